// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.ParentProcess;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A producer in a process of its own, which says what was acknowledged, and goes on until it or the broker is killed. */
final class KillProducer {
    private static final int UNDER_WAY = 4;
    private static final int MAX_LENGTH = 200;
    private static final long PAUSE_MILLIS = 2;
    private static final long RETRY_MILLIS = 20;

    private final LogConnection connection;
    private final Producer producer;
    private final int id;
    private final SplittableRandom random;
    private final CountDownLatch ended = new CountDownLatch(1);
    private int sequence;

    private KillProducer(LogConnection connection, Producer producer, int id) {
        this.connection = connection;
        this.producer = producer;
        this.id = id;
        random = new SplittableRandom(id);
    }

    /** Arguments: the broker, the lane, how to produce, the number of the producer, and its partition of two. */
    public static void main(String[] args) {
        try {
            run(args);
            System.exit(0);
        } catch (Exception | AssertionError e) {
            // The leader may have changed: whoever waits for this process learns that it has ended.
            System.err.println("producer " + args[3] + ": " + e.getMessage());
            System.exit(1);
        }
    }

    private static void run(String[] args) throws Exception {
        ParentProcess.onceGone(() -> Runtime.getRuntime().halt(1));
        Lane.valueOf(args[1].toUpperCase(Locale.ROOT)).apply();
        var connection = LogConnection.open(TransportKind.UCX, HostAndPort.parse(args[0]));
        var partition = LogFixture.await(connection.openTopic("kill", 2)) + Integer.parseInt(args[4]);
        var producer = args[2].equals("message") ? connection.messageProducer(partition)
                : access(connection, partition, AccessMode.valueOf(args[2].toUpperCase(Locale.ROOT)));
        var running = new KillProducer(connection, producer, Integer.parseInt(args[3]));
        connection.execute(() -> {
            for (var i = 0; i < UNDER_WAY; i++) {
                running.send();
            }
        });
        running.ended.await();
    }

    /** Whoever was killed before may not be missed yet. */
    private static Producer access(LogConnection connection, int partition, AccessMode mode) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS);
        while (true) {
            var asked = connection.memoryProducer(partition, mode).await();
            var isHeld = asked.cause() instanceof BrokerException e && e.code() == ErrorCode.HELD;
            if (!isHeld || System.nanoTime() > deadline) {
                return LogFixture.await(asked);
            }
            // Nothing tells a producer that the partition is free again: it asks.
            Thread.sleep(RETRY_MILLIS);
        }
    }

    private void send() {
        var number = sequence++;
        producer.send(LogFixture.encoded(LogFixture.payload(id, number, random.nextInt(MAX_LENGTH))))
                .addListener(acknowledged -> {
                    if (!acknowledged.isSuccess()) {
                        System.err.println("producer " + id + ": " + Explanation.of(acknowledged.cause()));
                        ended.countDown();
                        return;
                    }
                    System.out.println("acknowledged " + number + " " + acknowledged.getNow());
                    connection.schedule(this::send, TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
                });
    }
}
