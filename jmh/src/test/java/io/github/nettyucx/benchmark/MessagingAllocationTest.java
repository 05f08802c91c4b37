// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.github.nettyucx.messaging.Codec;
import io.github.nettyucx.messaging.Exporter;
import io.github.nettyucx.messaging.Importer;
import io.github.nettyucx.messaging.MessageType;
import io.github.nettyucx.messaging.Node;
import io.github.nettyucx.messaging.RequestType;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a message, or a request that a thread waits for, leaves to the garbage collector: nothing, at the sender's threads and
 * at both event loops. The least that an object takes is 16 bytes. An acknowledgement is a task with a time, at most once in
 * 10 ms at each loop. Of one message at a time there are few in 10 ms, and on a slow machine fewer: what these tasks may take
 * goes by the time.
 */
@Tag("alone")
@Timeout(300)
class MessagingAllocationTest {
    private static final int MESSAGES = 100_000;
    private static final int ROUND_TRIPS = 10_000;
    private static final double OF_MANY = 0.5;
    private static final double OF_ONE_AT_A_TIME = 1;
    private static final int ACKNOWLEDGEMENT_BYTES = 160;
    private static final long ACKNOWLEDGEMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int LOOPS = 2;
    private static final int LARGE = 512 * 1024;
    private static final int LARGE_MESSAGES = 500;
    /** Until code is compiled, which takes as many rounds and as much time. */
    private static final long COMPILED_SECONDS = 90;
    private static final int COMPILED_ROUNDS = 40;
    private static final long PATIENCE_SECONDS = 60;
    private static final Duration TIMEOUT = Duration.ofSeconds(PATIENCE_SECONDS);

    /** An object of a pool that has one: it is back before the next message is read. */
    private static final class Ball {
        private long number;
        private boolean isTaken;
    }

    private static final class BallCodec implements Codec<Ball> {
        private final Ball ball = new Ball();

        @Override
        public int size(Ball message) {
            return Long.BYTES;
        }

        @Override
        public void write(Ball message, Exporter out) {
            out.putLong(message.number);
        }

        @Override
        public Ball read(Importer in) {
            if (ball.isTaken) {
                throw new IllegalStateException("the one before has not come back");
            }
            ball.isTaken = true;
            ball.number = in.getLong();
            return ball;
        }

        @Override
        public void release(Ball message) {
            message.isTaken = false;
        }
    }

    /** What has arrived, for a thread that waits for it. */
    private static final class Arrivals {
        private final AtomicLong count = new AtomicLong();
        private final Thread waiting = Thread.currentThread();
        private volatile long wanted = Long.MAX_VALUE;

        void add() {
            if (count.incrementAndGet() == wanted) {
                LockSupport.unpark(waiting);
            }
        }

        void await(long number) {
            wanted = number;
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (count.get() < number) {
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(count + " of " + number + " have arrived");
                }
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            }
        }
    }

    private interface Round {
        /** Sends so many, and waits until all have arrived. */
        void run(int count);
    }

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final MessageType<Ball> there = new MessageType<>(1, new BallCodec());
    private final MessageType<Ball> back = new MessageType<>(2, new BallCodec());
    private final RequestType<Ball, Ball> ask = new RequestType<>(3, new BallCodec(), new BallCodec());
    private final Map<Integer, SocketAddress> addresses = new ConcurrentHashMap<>();
    private final UcxEventLoopGroup firstLoop = new UcxEventLoopGroup(1, UcxWaitStrategy.PARK);
    private final UcxEventLoopGroup secondLoop = new UcxEventLoopGroup(1, UcxWaitStrategy.PARK);
    private final Arrivals arrivals = new Arrivals();
    private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
    private final AtomicInteger failures = new AtomicInteger();
    private Node first;
    private Node second;

    @BeforeEach
    void connect() {
        // Else each buffer comes with a record of who has touched it.
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        first = start(1, firstLoop);
        second = start(2, secondLoop);
        first.onMessage(back, (_, _) -> arrivals.add());
    }

    private Node start(int id, UcxEventLoopGroup group) {
        var node = Node.builder(id).transport(group, UcxSocketChannel.class, UcxServerSocketChannel.class)
                .option(UcxChannelOption.LANES, "shm").listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .directory(addresses::get).start();
        addresses.put(id, node.address());
        return node;
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
        firstLoop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        secondLoop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        ResourceLeakDetector.setLevel(level);
    }

    /**
     * By the threads and both loops.
     *
     * @param most beside acknowledgements
     * @param more threads that send, besides the one that calls
     */
    private void assertAllocatesAtMost(double most, int count, Round round, Thread... more) throws InterruptedException {
        var ids = new long[3 + more.length];
        ids[0] = own();
        ids[1] = Loops.start(firstLoop)[0];
        ids[2] = Loops.start(secondLoop)[0];
        for (var i = 0; i < more.length; i++) {
            ids[3 + i] = more[i].threadId();
        }
        assertEachAllocatesAtMost(most, ACKNOWLEDGEMENT_BYTES, count, round, ids);
    }

    private static long own() {
        return Thread.currentThread().threadId();
    }

    private void assertEachAllocatesAtMost(double most, int acknowledgementBytes, int count, Round round, long[] ids) {
        var least = Double.MAX_VALUE;
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(COMPILED_SECONDS);
        for (var rounds = 0; least > most && (System.nanoTime() - deadline < 0 || rounds < COMPILED_ROUNDS); rounds++) {
            var before = allocated(ids);
            var start = System.nanoTime();
            round.run(count);
            var acknowledgements = LOOPS * (1 + (System.nanoTime() - start) / ACKNOWLEDGEMENT_NANOS);
            var ofMessages = allocated(ids) - before - acknowledgements * acknowledgementBytes;
            least = Math.min(least, (double) ofMessages / count);
        }
        System.out.printf("%.3f bytes of Java heap for each%n", least);
        assertTrue(least <= most, least + " bytes of Java heap for each");
        assertEquals(0, first.metrics().unhandled() + second.metrics().unhandled() + failures.get());
        assertEquals(0, first.metrics().overflowed() + second.metrics().overflowed());
    }

    private long allocated(long[] ids) {
        var bytes = 0L;
        for (var id : ids) {
            bytes += threads.getThreadAllocatedBytes(id);
        }
        return bytes;
    }

    /** Two threads, as fast as they can: both wait for room again and again. */
    @Test
    void messagesOfThreads() throws Exception {
        second.onMessage(there, (_, _) -> arrivals.add());
        var turn = new AtomicInteger();
        var other = Thread.ofPlatform().daemon().start(() -> {
            var ball = new Ball();
            for (var done = 0; ; done++) {
                while (turn.get() == done) {
                    LockSupport.park();
                }
                for (var i = 0; i < MESSAGES / 2; i++) {
                    first.peer(2).send(there, ball);
                }
            }
        });
        other.setUncaughtExceptionHandler((_, _) -> failures.incrementAndGet());
        var ball = new Ball();
        var total = new long[1];
        assertAllocatesAtMost(OF_MANY, MESSAGES, count -> {
            turn.incrementAndGet();
            LockSupport.unpark(other);
            for (var i = 0; i < count / 2; i++) {
                first.peer(2).send(there, ball);
            }
            total[0] += count;
            arrivals.await(total[0]);
        }, other);
    }

    /**
     * Two of them fill the ring: their sender waits for room again and again. Only what that allocates counts. The receiver
     * notes each message that comes in parts, and the loop's naps are tasks.
     */
    @Test
    void largeMessagesOfAThread() throws Exception {
        var large = new MessageType<>(4, new Messages.Bytes(LARGE));
        second.onMessage(large, (_, _) -> arrivals.add());
        var message = new byte[LARGE];
        var total = new long[1];
        assertEachAllocatesAtMost(OF_MANY, 0, LARGE_MESSAGES, count -> {
            for (var i = 0; i < count; i++) {
                first.peer(2).send(large, message);
            }
            total[0] += count;
            arrivals.await(total[0]);
        }, new long[] {own()});
    }

    /** Each has a wake-up, a flush and a read of its own, at both sides; what comes back is sent by a handler. */
    @Test
    void aMessageOfAThreadAndOneOfALoopAtATime() throws Exception {
        second.onMessage(there, (from, message) -> from.send(back, message));
        var ball = new Ball();
        var total = new long[1];
        assertAllocatesAtMost(OF_ONE_AT_A_TIME, ROUND_TRIPS, count -> {
            for (var i = 0; i < count; i++) {
                ball.number = i;
                first.peer(2).send(there, ball);
                arrivals.await(++total[0]);
            }
        });
    }

    @Test
    void aRequestThatAThreadWaitsFor() throws Exception {
        second.onRequest(ask, (_, request, responder) -> responder.respond(request));
        var ball = new Ball();
        assertAllocatesAtMost(OF_ONE_AT_A_TIME, ROUND_TRIPS, count -> {
            for (var i = 0; i < count; i++) {
                ball.number = i;
                var response = first.peer(2).request(ask, ball, TIMEOUT);
                if (response.number != i) {
                    throw new AssertionError(response.number + " for " + i);
                }
                ask.response().release(response);
            }
        });
    }
}
