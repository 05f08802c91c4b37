// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A broker, connections to it, and what was acknowledged by it. */
final class LogFixture implements AutoCloseable {
    static final long SECONDS = 30;
    static final HostAndPort ANY_PORT = new HostAndPort("127.0.0.1", 0);
    private static final int HEAD = 12;

    static {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    }

    private final TransportKind transport;
    private final BrokerSettings settings;
    private final List<LogConnection> connections = new ArrayList<>();
    /** Payloads by their offsets. */
    private final Map<Long, byte[]> acknowledged = new HashMap<>();
    private LogBroker broker;

    LogFixture(TransportKind transport, BrokerSettings settings) {
        this.transport = transport;
        this.settings = settings;
        broker = LogBroker.start(transport, ANY_PORT, settings);
    }

    LogConnection connect() {
        var connection = LogConnection.open(transport, broker.address());
        connections.add(connection);
        return connection;
    }

    HostAndPort address() {
        return broker.address();
    }

    void restart() {
        connections.forEach(LogConnection::close);
        connections.clear();
        broker.close();
        broker = LogBroker.start(transport, ANY_PORT, settings);
    }

    static <T> T await(Future<T> future) throws Exception {
        assertTrue(future.await(SECONDS, TimeUnit.SECONDS), "nothing came of it");
        if (future.cause() != null) {
            throw new AssertionError(future.cause());
        }
        return future.getNow();
    }

    static BrokerException awaitRefusal(ErrorCode code, Future<?> future) throws Exception {
        assertTrue(future.await(SECONDS, TimeUnit.SECONDS), "nothing came of it");
        var refusal = assertInstanceOf(BrokerException.class, future.cause());
        assertEquals(code, refusal.code(), refusal.getMessage());
        return refusal;
    }

    /** Who has sent it, and as which, and then what the two make. */
    static byte[] payload(int producer, int sequence, int length) {
        var payload = new byte[HEAD + length];
        new SplittableRandom(producer * 1_000_003L + sequence).nextBytes(payload);
        ByteBuffer.wrap(payload).putInt(producer).putInt(sequence).putInt(length);
        return payload;
    }

    static ByteBuf encoded(byte[] payload) {
        return Records.encode(PooledByteBufAllocator.DEFAULT, payload);
    }

    /** Sends records, and waits until all are acknowledged. */
    void produce(Producer producer, int id, int from, int to, int maxLength) throws Exception {
        var random = new SplittableRandom(id * 31L + from);
        var sent = new ArrayList<Future<Long>>();
        var payloads = new ArrayList<byte[]>();
        for (var i = from; i < to; i++) {
            var payload = payload(id, i, random.nextInt(maxLength));
            payloads.add(payload);
            sent.add(producer.send(encoded(payload)));
        }
        for (var i = 0; i < sent.size(); i++) {
            acknowledged(await(sent.get(i)), payloads.get(i));
        }
    }

    synchronized void acknowledged(long offset, byte[] payload) {
        assertEquals(null, acknowledged.put(offset, payload), () -> "offset " + offset + " was acknowledged twice");
    }

    synchronized int acknowledgedCount() {
        return acknowledged.size();
    }

    /** All that the partition has, by message. */
    List<LogRecord> readByMessage(LogConnection connection, int partition) throws Exception {
        var records = new ArrayList<LogRecord>();
        var consumer = connection.messageConsumer(partition, 0);
        for (List<LogRecord> some; !(some = await(consumer.poll(0))).isEmpty();) {
            records.addAll(some);
        }
        return records;
    }

    /** So many records, out of the broker's memory. */
    List<LogRecord> readMemory(LogConnection connection, int partition, int count) throws Exception {
        var records = new ArrayList<LogRecord>();
        var consumer = await(connection.memoryConsumer(partition, List.of(0L)));
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (records.size() < count) {
            records.addAll(await(consumer.poll()));
            assertTrue(System.nanoTime() < deadline, () -> "no more than " + records.size() + " of " + count);
        }
        assertEquals(List.of(), await(consumer.poll()));
        consumer.close();
        return records;
    }

    /** There is what was acknowledged, where it was, and nothing else; what one producer has sent is in its order. */
    synchronized void assertLog(List<LogRecord> records) {
        assertEquals(acknowledged.size(), records.size());
        var last = new HashMap<Integer, Integer>();
        for (var i = 0; i < records.size(); i++) {
            var record = records.get(i);
            assertEquals(i, record.offset());
            var expected = acknowledged.get(record.offset());
            assertNotNull(expected, () -> "record " + record.offset() + " was not acknowledged");
            assertArrayEquals(expected, record.payload(), () -> "record " + record.offset());
            var head = ByteBuffer.wrap(record.payload());
            var producer = head.getInt();
            var sequence = head.getInt();
            var before = last.put(producer, sequence);
            assertFalse(before != null && before >= sequence, () -> "producer " + producer + ": " + sequence + " comes after "
                    + before);
        }
    }

    @Override
    public void close() {
        connections.forEach(LogConnection::close);
        broker.close();
    }
}
