// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.LogRecord;
import io.github.nettyucx.examples.log.client.MemoryConsumer;
import io.github.nettyucx.examples.log.client.MessageConsumer;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/** A producer or a consumer that measures. Whatever it does between two records it does on its event loop. */
final class LoadClient {
    private static final String TOPIC = "load";
    /** One for each number of clients: those of a round make it whole. */
    private static final String BARRIER = "load-barrier-";
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int HISTOGRAM_DIGITS = 3;
    private static final int WAIT_MILLIS = 100;
    /** Instead of the time at which a record was sent: there are no more. */
    private static final long LAST = 0;

    private final TransportKind transport;
    private final HostAndPort broker;
    private final Load load;
    private final Histogram latency = new Histogram(LONGEST_NANOS, HISTOGRAM_DIGITS);
    private final Promise<Void> over = ImmediateEventExecutor.INSTANCE.newPromise();
    private final byte[] payload;
    private final ByteBuffer head;
    private long measuredFrom;
    private long until;

    LoadClient(TransportKind transport, HostAndPort broker, Load load) {
        this.transport = transport;
        this.broker = broker;
        this.load = load;
        payload = new byte[load.size().bytes()];
        head = ByteBuffer.wrap(payload);
    }

    /** @throws ExampleFailure if it fails, in words */
    static <T> T await(Future<T> future) throws InterruptedException {
        future.await();
        if (!future.isSuccess()) {
            throw new ExampleFailure(Explanation.of(future.cause()), future.cause());
        }
        return future.getNow();
    }

    /** Returns when as many clients of the broker have come here as there are to be. */
    private void awaitOthers(LogConnection connection) throws InterruptedException {
        var partition = await(connection.openTopic(BARRIER + load.clients(), 1));
        await(connection.messageProducer(partition).send(Records.encode(PooledByteBufAllocator.DEFAULT, new byte[0])));
        var consumer = connection.messageConsumer(partition, 0);
        do {
            await(consumer.poll(WAIT_MILLIS));
        } while (consumer.offset() % load.clients() != 0);
    }

    private void begin() {
        measuredFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(load.seconds());
        until = measuredFrom + TimeUnit.SECONDS.toNanos(load.seconds());
    }

    // ------------------------------------------------------------------------------------------- producing

    LogResult produce() throws InterruptedException {
        try (var connection = LogConnection.open(transport, broker)) {
            var partition = await(connection.openTopic(TOPIC, 1));
            try (var producer = load.way().producer(connection, partition)) {
                awaitOthers(connection);
                var before = await(connection.statistics());
                begin();
                new Sending(connection, producer).run();
                await(over);
                var after = await(connection.statistics());
                await(producer.send(records(LAST)));
                return LogResult.of(latency, load.size().bytes(), TimeUnit.SECONDS.toNanos(load.seconds()))
                        .withBroker(before, after);
            }
        }
    }

    /** As many as are sent at once. */
    private ByteBuf records(long time) {
        head.putLong(0, time);
        var records = PooledByteBufAllocator.DEFAULT.directBuffer(load.batch() * (Records.HEADER + payload.length));
        for (var i = 0; i < load.batch(); i++) {
            Records.encode(records, payload);
        }
        return records;
    }

    private final class Sending {
        private final LogConnection connection;
        private final Producer producer;
        private final Producer.Acknowledgement told = (begun, _, cause) -> acknowledged(begun, cause);
        private int underWay;

        Sending(LogConnection connection, Producer producer) {
            this.connection = connection;
            this.producer = producer;
        }

        void run() {
            connection.execute(() -> {
                for (var i = 0; i < load.inFlight(); i++) {
                    send(System.nanoTime());
                }
            });
        }

        /** @param now by which it is known when it is acknowledged, too */
        private void send(long now) {
            underWay++;
            if (load.batch() == 1) {
                head.putLong(0, now);
                producer.send(payload, told, now);
            } else {
                producer.send(records(now), told, now);
            }
        }

        private void acknowledged(long begun, Throwable cause) {
            underWay--;
            var now = System.nanoTime();
            if (cause != null) {
                over.tryFailure(cause);
            } else if (now < until) {
                if (now >= measuredFrom) {
                    latency.recordValueWithCount(now - begun, load.batch());
                }
                sendNext(begun, now);
            } else if (underWay == 0) {
                over.trySuccess(null);
            }
        }

        private void sendNext(long begun, long now) {
            if (load.rate() == 0) {
                send(now);
            } else {
                var next = begun + TimeUnit.SECONDS.toNanos(1) / load.rate();
                connection.schedule(() -> send(System.nanoTime()), Math.max(0, next - now));
            }
        }
    }

    // ------------------------------------------------------------------------------------------- consuming

    LogResult consume() throws InterruptedException {
        try (var connection = LogConnection.open(transport, broker)) {
            var partition = await(connection.openTopic(TOPIC, 1));
            // What is there already is not measured.
            var end = await(connection.messageConsumer(partition, 0).end());
            Runnable closing = () -> { };
            if (load.way() == LogWay.MESSAGE) {
                MessageConsumer consumer = connection.messageConsumer(partition, end);
                awaitOthers(connection);
                begin();
                poll(connection, () -> consumer.poll(WAIT_MILLIS));
            } else {
                MemoryConsumer consumer = await(connection.memoryConsumer(partition, List.of(end)));
                awaitOthers(connection);
                begin();
                poll(connection, consumer::poll);
                closing = consumer::close;
            }
            await(over);
            closing.run();
            return LogResult.of(latency, load.size().bytes(), TimeUnit.SECONDS.toNanos(load.seconds()));
        }
    }

    private void poll(LogConnection connection, Supplier<Future<List<LogRecord>>> source) {
        connection.execute(() -> source.get().addListener((Future<List<LogRecord>> polled) -> {
            if (!polled.isSuccess()) {
                over.tryFailure(polled.cause());
                return;
            }
            var now = System.nanoTime();
            for (var record : polled.getNow()) {
                var sent = ByteBuffer.wrap(record.payload()).getLong();
                if (sent == LAST) {
                    over.trySuccess(null);
                    return;
                }
                if (now >= measuredFrom) {
                    latency.recordValue(Math.max(0, now - sent));
                }
            }
            poll(connection, source);
        }));
    }
}
