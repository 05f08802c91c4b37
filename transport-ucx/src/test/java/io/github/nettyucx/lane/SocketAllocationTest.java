// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.FastThreadLocalThread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A lane that has been used for some time allocates nothing for a message. */
class SocketAllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5_000;
    /** Until everything is compiled, in rounds. */
    private static final int PATIENCE = 60;

    /** Bytes per round, which any object in each of them would exceed. */
    private static final double NOTHING = 8;
    /**
     * What the JDK makes of a segment for errno in each call into C, where its compiler does not see that nobody keeps it:
     * {@code SharedUtils.checkCaptureSegment} of JDK 25. In a process that has run much else, that happens.
     */
    private static final int VIEW_OF_ERRNO = 40;
    /** A send and a receive in each direction. */
    private static final int CALLS = 4;

    private ResourceLeakDetector.Level level;
    private LanePair pair;
    private LaneEnd near;
    private LaneEnd far;
    private ChannelOutboundBuffer out;
    private ChannelPromise promise;
    private ByteBuf[] messages;
    private ByteBuf input;
    private final Allocation reuse = length -> input.clear().retain();

    /** It takes a stack trace for each use of a buffer. */
    @BeforeEach
    void withoutLeakDetection() {
        level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    @AfterEach
    void withLeakDetection() {
        ResourceLeakDetector.setLevel(level);
    }

    @Test
    void loneMessagesAllocateNothing() throws Exception {
        onFreshThread(100);
    }

    @Test
    void gatheredMessagesAllocateNothing() throws Exception {
        onFreshThread(10, 20, 30, 9000, 40, 10_000, 12_000);
    }

    /** As a loop has it. Netty's recyclers belong to threads, and allocate where others have left much in them. */
    private void onFreshThread(int... lengths) throws Exception {
        FutureTask<Void> task = new FutureTask<>(() -> {
            measure(lengths);
            return null;
        });
        new FastThreadLocalThread(task, "allocation").start();
        task.get(5, TimeUnit.MINUTES);
    }

    private void measure(int... lengths) throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel();
        // Netty's promises and the buffers are the application's, and not counted.
        out = channel.unsafe().outboundBuffer();
        promise = channel.voidPromise();
        input = PooledByteBufAllocator.DEFAULT.directBuffer(256 * 1024);
        messages = new ByteBuf[lengths.length];
        int total = 0;
        for (int i = 0; i < lengths.length; i++) {
            messages[i] = PooledByteBufAllocator.DEFAULT.directBuffer(lengths[i]).writeZero(lengths[i]);
            total += lengths[i];
        }
        try (LanePair connected = new LanePair()) {
            pair = connected;
            near = pair.nearLane();
            far = pair.farLane();
            near.lane.wanted(true);
            far.lane.wanted(true);
            double least = Double.MAX_VALUE;
            for (int i = 0; i < PATIENCE && least > NOTHING; i++) {
                least = Math.min(least, allocatedBy(total) / (double) ROUNDS);
            }
            double own = least;
            for (int i = 0; i < CALLS && own >= VIEW_OF_ERRNO; i++) {
                own -= VIEW_OF_ERRNO;
            }
            assertTrue(own <= NOTHING, "allocated " + least + " bytes per round");
            assertEquals(input.refCnt(), 1);
        } finally {
            input.release();
            for (ByteBuf message : messages) {
                message.release();
            }
            channel.close();
        }
    }

    private long allocatedBy(int total) throws Exception {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ROUNDS; i++) {
            round(near, far, total);
            round(far, near, total);
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    private void round(LaneEnd from, LaneEnd to, int total) throws Exception {
        for (ByteBuf message : messages) {
            out.addMessage(message.retain().readerIndex(0), message.readableBytes(), promise);
        }
        out.addFlush();
        if (from.lane.write(out, LaneEnd.SPINS) != Written.DRAINED) {
            throw new AssertionError("not sent");
        }
        int received = 0;
        while (received < total) {
            ByteBuf read = to.lane.read(256 * 1024, reuse);
            if (read == null) {
                pair.turn();
            } else {
                received += read.readableBytes();
                read.release();
            }
        }
    }
}
