// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.LogRecord;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * A consumer of records that are there already: it takes them one at a time, from the first to the last, and again. Then it
 * goes on to look for more at the end of the log, where nothing comes, and asks what the broker has to do meanwhile.
 */
final class FetchClient {
    private static final String TOPIC = "fetch-";
    /** Of all records together: they lie in one segment, if that has its usual length. */
    private static final int ALL_BYTES = 8 << 20;
    private static final int LEAST_RECORDS = 16;
    /** Sent at once. */
    private static final int BATCH_BYTES = 256 << 10;
    /** It takes longer: the system counts a process's time in hundredths of a second. */
    private static final int IDLE_TIMES = 5;
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int HISTOGRAM_DIGITS = 3;

    /** Reads in one of the two ways. */
    private record Source(Supplier<Future<List<LogRecord>>> poll, LongSupplier offset, LongConsumer seek, Runnable close) { }

    private final TransportKind transport;
    private final HostAndPort broker;
    private final Load load;
    private final Histogram latency = new Histogram(LONGEST_NANOS, HISTOGRAM_DIGITS);

    FetchClient(TransportKind transport, HostAndPort broker, Load load) {
        this.transport = transport;
        this.broker = broker;
        this.load = load;
    }

    LogResult fetch() throws InterruptedException {
        try (var connection = LogConnection.open(transport, broker)) {
            var partition = LoadClient.await(connection.openTopic(TOPIC + load.size().bytes(), 1));
            try (var producer = connection.messageProducer(partition)) {
                fill(producer);
            }
            var end = LoadClient.await(connection.messageConsumer(partition, 0).end());
            var source = source(connection, partition);
            var seconds = TimeUnit.SECONDS.toNanos(load.seconds());
            take(connection, source, end, System.nanoTime() + seconds, false);
            var before = LoadClient.await(connection.statistics());
            take(connection, source, end, System.nanoTime() + seconds, true);
            var after = LoadClient.await(connection.statistics());
            var idle = idle(connection, source, end, IDLE_TIMES * seconds);
            source.close.run();
            return LogResult.of(latency, load.size().bytes(), seconds)
                    .withBroker(latency.getTotalCount(), before, after).withIdle(idle);
        }
    }

    private void fill(Producer producer) throws InterruptedException {
        var payload = new byte[load.size().bytes()];
        var record = Records.HEADER + payload.length;
        var batch = Math.max(1, BATCH_BYTES / record);
        for (var left = Math.max(LEAST_RECORDS, ALL_BYTES / record); left > 0; left -= batch) {
            var records = PooledByteBufAllocator.DEFAULT.directBuffer(Math.min(left, batch) * record);
            for (var i = 0; i < Math.min(left, batch); i++) {
                Records.encode(records, payload);
            }
            LoadClient.await(producer.send(records));
        }
    }

    private Source source(LogConnection connection, int partition) throws InterruptedException {
        var one = Records.HEADER + load.size().bytes();
        if (load.way() == LogWay.MESSAGE) {
            var consumer = connection.messageConsumer(partition, 0, one);
            return new Source(() -> consumer.poll(0), consumer::offset, consumer::seek, () -> { });
        }
        var consumer = LoadClient.await(connection.memoryConsumer(partition, List.of(0L), one));
        return new Source(consumer::poll, () -> consumer.offset(partition), next -> consumer.seek(partition, next),
                consumer::close);
    }

    private void take(LogConnection connection, Source source, long end, long until, boolean isMeasured)
            throws InterruptedException {
        new Loop(connection, source, () -> System.nanoTime() < until, (nanos, found) -> {
            if (isMeasured && found > 0) {
                latency.recordValue(nanos);
            }
            if (source.offset.getAsLong() >= end) {
                source.seek.accept(0);
            }
        }).run();
    }

    private LogResult.Idle idle(LogConnection connection, Source source, long end, long nanos) throws InterruptedException {
        // Where that is may have to be asked, once.
        source.seek.accept(end);
        new Loop(connection, source, once(), (_, _) -> { }).run();
        Message.Statistics before = LoadClient.await(connection.statistics());
        var begun = System.nanoTime();
        var polls = new long[1];
        new Loop(connection, source, () -> System.nanoTime() - begun < nanos, (_, _) -> polls[0]++).run();
        var took = System.nanoTime() - begun;
        Message.Statistics after = LoadClient.await(connection.statistics());
        return new LogResult.Idle(polls[0], took, after.cpuNanos() - before.cpuNanos(), after.turns() - before.turns());
    }

    private static BooleanSupplier once() {
        var first = new boolean[] {true};
        return () -> {
            var again = first[0];
            first[0] = false;
            return again;
        };
    }

    @FunctionalInterface
    private interface Listener {
        void polled(long nanos, int found);
    }

    /** Polls again and again, on the event loop. */
    private static final class Loop {
        private final LogConnection connection;
        private final Source source;
        private final BooleanSupplier goesOn;
        private final Listener listener;
        private final Promise<Void> over = ImmediateEventExecutor.INSTANCE.newPromise();

        Loop(LogConnection connection, Source source, BooleanSupplier goesOn, Listener listener) {
            this.connection = connection;
            this.source = source;
            this.goesOn = goesOn;
            this.listener = listener;
        }

        void run() throws InterruptedException {
            connection.execute(this::next);
            LoadClient.await(over);
        }

        private void next() {
            if (!goesOn.getAsBoolean()) {
                over.setSuccess(null);
                return;
            }
            var begun = System.nanoTime();
            source.poll.get().addListener((Future<List<LogRecord>> polled) -> {
                if (polled.isSuccess()) {
                    listener.polled(System.nanoTime() - begun, polled.getNow().size());
                    connection.execute(this::next);
                } else {
                    over.setFailure(polled.cause());
                }
            });
        }
    }
}
