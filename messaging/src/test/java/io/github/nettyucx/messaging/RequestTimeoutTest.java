// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** How exactly the time of a request is kept for which no thread waits, and what a thread does whose time is over. */
@Timeout(60)
class RequestTimeoutTest {

    private static final RequestType<String, String> ASK =
            new RequestType<>(1, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** As many as begin within 10 ms, on a machine that is always there. */
    private static final int TICKS = 2;
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int ROUNDS = 6;
    private static final int ANSWERED_MILLIS = 5_000;
    private static final int IDLE_MILLIS = 300;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** In a round, all at the same time. */
    private static final int REQUESTS = 50;

    /** Of which nobody takes the answer. */
    private static final class Asked implements ResponseHandler<String> {

        private final CompletableFuture<Long> ended = new CompletableFuture<>();
        private final long nanos;
        private long begun;
        private long sent;

        Asked(long nanos) {
            this.nanos = nanos;
        }

        void ask(Peer peer) {
            begun = System.nanoTime();
            peer.requestAsync(ASK, "?", Duration.ofNanos(nanos), this);
            sent = System.nanoTime();
        }

        @Override
        public void onResponse(String response) {
            ended.completeExceptionally(new AssertionError("answered"));
        }

        @Override
        public void onFailure(MessagingException cause) {
            long now = System.nanoTime();
            if (cause instanceof MessagingException.RequestTimeout) {
                ended.complete(now);
            } else {
                ended.completeExceptionally(cause);
            }
        }
    }

    /**
     * What a loop can do: a timer that is set again whenever it has come. Where the machine holds the loop up, for as long as
     * it likes, there is no more than one tick.
     */
    private static final class Ticks implements Runnable, AutoCloseable {

        private final ScheduledExecutorService loop;
        // Of the loop, until it has ended.
        private final NavigableSet<Long> begun = new TreeSet<>();
        private volatile boolean closing;
        private final CountDownLatch closed = new CountDownLatch(1);

        Ticks(ScheduledExecutorService loop) {
            this.loop = loop;
            loop.execute(this);
        }

        @Override
        public void run() {
            begun.add(System.nanoTime());
            if (closing) {
                closed.countDown();
            } else {
                loop.schedule(this, TICK_NANOS, TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public void close() throws InterruptedException {
            closing = true;
            assertTrue(closed.await(20, TimeUnit.SECONDS));
        }

        /** How many have begun meanwhile. After the end. */
        int between(long from, long to) {
            return from < to ? begun.subSet(from, to).size() : 0;
        }
    }

    private static List<Asked> round(Peer peer, SplittableRandom random) throws Exception {
        List<Asked> all = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            all.add(new Asked(random.nextLong(1, LONGEST_NANOS)));
            all.get(i).ask(peer);
        }
        for (Asked each : all) {
            each.ended.get(20, TimeUnit.SECONDS);
        }
        return all;
    }

    /** What it has is nobody else's any more. So it is waited for, also by who is interrupted, but not by looking. */
    @ParameterizedTest
    @EnumSource
    void aResponseThatACodecReadsWhenTheTimeIsOverIsWaitedForIdly(TestTransport transport) throws Exception {
        var reading = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        Codec<String> slow = new Codec<>() {
            @Override
            public int size(String message) {
                return StringCodec.INSTANCE.size(message);
            }

            @Override
            public void write(String message, Exporter out) {
                StringCodec.INSTANCE.write(message, out);
            }

            @Override
            public String read(Importer in) {
                reading.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return StringCodec.INSTANCE.read(in);
            }
        };
        var type = new RequestType<>(2, StringCodec.INSTANCE, slow);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onRequest(ASK, (from, request, responder) -> responder.respond(request));
            two.onRequest(type, (from, request, responder) -> responder.respond(request));
            // To connect is no part of what has to be done in time.
            assertEquals("?", one.peer(2).request(ASK, "?", Duration.ofSeconds(20)));
            var response = new CompletableFuture<String>();
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    // It has to be answered by then, and it is over long before the codec is done.
                    String read = one.peer(2).request(type, "x", Duration.ofMillis(ANSWERED_MILLIS));
                    response.complete(read + (Thread.interrupted() ? ", interrupted" : ""));
                } catch (Throwable e) {
                    response.completeExceptionally(e);
                }
            });
            assertTrue(reading.await(20, TimeUnit.SECONDS));
            // Until its time is over, by the clock: from then on it waits for the codec.
            Thread.sleep(ANSWERED_MILLIS + IDLE_MILLIS);
            thread.interrupt();
            long before = THREADS.getThreadCpuTime(thread.threadId());
            // That it does nothing in this time is what is looked at.
            Thread.sleep(IDLE_MILLIS);
            long busyMillis = TimeUnit.NANOSECONDS.toMillis(THREADS.getThreadCpuTime(thread.threadId()) - before);
            go.countDown();
            assertEquals("x, interrupted", response.get(20, TimeUnit.SECONDS));
            assertTrue(busyMillis < IDLE_MILLIS / 10, () -> "the thread was busy for " + busyMillis + " ms");
        } finally {
            go.countDown();
        }
    }

    /** One of a node's loops has ended: the others look at the deadlines. */
    @Test
    void timesOutThoughALoopHasEnded() throws Exception {
        var loops = new NioEventLoopGroup(2);
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder ->
                    builder.transport(loops, NioSocketChannel.class, NioServerSocketChannel.class));
            Node two = nodes.start(2);
            two.onRequest(ASK, (from, request, responder) -> {
                if (request.equals("?")) {
                    responder.detach();
                } else {
                    responder.respond(request);
                }
            });
            Peer peer = one.peer(2);
            assertEquals("x", peer.request(ASK, "x", Duration.ofSeconds(20)));
            for (var loop : loops) {
                if (loop != peer.connections().getFirst().loop()) {
                    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
                }
            }
            for (int i = 0; i < 2 * loops.executorCount(); i++) {
                var asked = new Asked(TimeUnit.MILLISECONDS.toNanos(100));
                asked.ask(peer);
                asked.ended.get(20, TimeUnit.SECONDS);
            }
        } finally {
            loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    /** By what the loop itself has been able to do meanwhile: what the machine delays does not count. */
    @ParameterizedTest
    @EnumSource
    void aRequestEndsWhenItsTimeIsOverAndNotMuchLater(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            nodes.start(2).onRequest(ASK, (from, request, responder) -> responder.detach());
            Peer peer = one.peer(2);
            var random = new SplittableRandom(transport.ordinal());
            // Classes are loaded, and methods compiled.
            round(peer, random);
            List<Asked> all = new ArrayList<>();
            var ticks = new Ticks(one.timer());
            try (ticks) {
                for (int i = 0; i < ROUNDS; i++) {
                    all.addAll(round(peer, random));
                }
            }
            long latest = 0;
            int most = 0;
            for (Asked each : all) {
                long ended = each.ended.get();
                assertTrue(ended - each.begun >= each.nanos, () -> "a request of " + each.nanos + " ns ended after "
                        + (ended - each.begun));
                long due = each.sent + each.nanos;
                latest = Math.max(latest, ended - due);
                most = Math.max(most, ticks.between(due, ended));
            }
            String told = String.format("%s: late by %.1f ms at most, and by %d ticks of %.0f ms", transport, latest / 1e6,
                    most, TICK_NANOS / 1e6);
            System.out.println(told);
            assertTrue(most <= TICKS, told);
        }
    }
}
