// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.jctools.queues.MpscArrayQueue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Control;

/**
 * The ring alone, with messages of 16 bytes, and JCTools' queue of as many references: four threads put in, one takes out.
 * The queue's elements are there already; the ring's are written. In the package of the ring, which nobody else sees.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RingBenchmark {

    private static final int PRODUCERS = 4;
    private static final int FRAME = 24;
    private static final int CAPACITY = 1024 * 1024;

    @State(Scope.Group)
    public static class OfRing implements Ring.Span {

        private final Ring ring = new Ring(CAPACITY);
        private long end;
        private int frames;

        @Override
        public void set(long position, int offset, int length, int bytes, int count) {
            end = position + length;
            frames = count;
        }
    }

    @State(Scope.Group)
    public static class OfQueue {

        private final MpscArrayQueue<Object> queue = new MpscArrayQueue<>(CAPACITY / FRAME);
        private final Object element = new Object();
    }

    @Benchmark
    @Group("ring")
    @GroupThreads(PRODUCERS)
    public void put(OfRing state, Control control) {
        long position;
        while ((position = state.ring.reserve(FRAME)) < 0) {
            if (control.stopMeasurement) {
                return;
            }
            Thread.yield();
        }
        int offset = state.ring.offset(position);
        state.ring.memory().set(ValueLayout.JAVA_LONG, offset + 8L, position);
        state.ring.memory().set(ValueLayout.JAVA_LONG, offset + 16L, position);
        state.ring.commit(position, FRAME, Frame.MESSAGE, 1);
    }

    /** What it returns is not what counts: see the producers' rate. */
    @Benchmark
    @Group("ring")
    public int take(OfRing state) {
        if (!state.ring.take(64 * 1024, state)) {
            Thread.yield();
            return 0;
        }
        state.ring.free(state.end);
        return state.frames;
    }

    @Benchmark
    @Group("queue")
    @GroupThreads(PRODUCERS)
    public void offer(OfQueue state, Control control) {
        while (!state.queue.offer(state.element)) {
            if (control.stopMeasurement) {
                return;
            }
            Thread.yield();
        }
    }

    /** As many as there are, as the ring's consumer does. */
    @Benchmark
    @Group("queue")
    public int drain(OfQueue state) {
        int count = state.queue.drain(ignored -> { }, 64 * 1024 / FRAME);
        if (count == 0) {
            Thread.yield();
        }
        return count;
    }
}
