// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What jcstress runs; {@link StressTest} has it run. */
final class RingStress {

    private RingStress() {
    }

    /** A ring for two frames of 16 bytes, or three if the first has been given back. */
    abstract static class Small implements Ring.Span {

        static final int FRAME = 16;
        // On the heap, because there are so many of them.
        final Ring ring = new Ring(32, MemorySegment.ofArray(new long[(int) (Ring.size(32) / 8)]));
        private int offset;
        private int length;

        @Override
        public void set(long position, int offset, int length, int bytes, int frames) {
            this.offset = offset;
            this.length = length;
        }

        /** @return whether the consumer has to be woken, as 1; -1 if there was no room */
        final int put(long value) {
            return put(Frame.MESSAGE, value);
        }

        final int put(int kind, long value) {
            long position = ring.reserve(FRAME);
            if (position < 0) {
                return -1;
            }
            ring.memory().set(ValueLayout.JAVA_LONG, ring.offset(position) + 8L, value);
            return ring.commit(position, FRAME, kind, 1) ? 1 : 0;
        }

        /** The values of the frames that are there, as digits. */
        final int take() {
            int values = 0;
            while (ring.take(32, this)) {
                for (int at = offset; at < offset + length; at += FRAME) {
                    values = 10 * values + (int) ring.memory().get(ValueLayout.JAVA_LONG, at + 8L);
                }
            }
            return values;
        }
    }

    // No more than two actors each: with fewer processors jcstress leaves a test out.

    @JCStressTest
    @Outcome(id = {"12", "21"}, expect = Expect.ACCEPTABLE, desc = "Each once, and whole.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice or torn.")
    @State
    public static class EachFrameOnce extends Small {

        @Actor
        public void first() {
            put(1);
        }

        @Actor
        public void second() {
            put(2);
        }

        @Arbiter
        public void taken(I_Result result) {
            result.r1 = take();
        }
    }

    @JCStressTest
    @Outcome(id = {"0, 12", "1, 2", "12, 0"}, expect = Expect.ACCEPTABLE, desc = "In order, what was committed by then.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice or torn.")
    @State
    public static class TakenInOrder extends Small {

        @Actor
        public void producer() {
            put(1);
            put(2);
        }

        @Actor
        public void consumer(II_Result result) {
            result.r1 = take();
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r2 = take();
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "One of the two wakes the consumer.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Nobody does, or both do.")
    @State
    public static class OneWakes extends Small {

        private int first;
        private int second;

        @Actor
        public void first() {
            first = put(1);
        }

        @Actor
        public void second() {
            second = put(2);
        }

        @Arbiter
        public void woken(I_Result result) {
            result.r1 = first + second;
        }
    }

    /** The consumer goes to sleep while a producer commits. */
    @JCStressTest
    @Outcome(id = {"1, 0, 0", "0, 1, 1"}, expect = Expect.ACCEPTABLE,
            desc = "It is woken, or has seen the frame and stays awake.")
    @Outcome(id = {"1, 1, 0"}, expect = Expect.ACCEPTABLE, desc = "It slept, and is woken.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A frame with nobody who takes it.")
    @State
    public static class NoLostWakeup extends Small {

        public NoLostWakeup() {
            put(9);
            take();
            ring.free(FRAME);
        }

        @Actor
        public void producer(III_Result result) {
            result.r1 = put(1);
        }

        @Actor
        public void consumer(III_Result result) {
            // 1: it does not sleep, because there is something to take.
            result.r2 = ring.sleep() ? 0 : 1;
        }

        @Arbiter
        public void seen(III_Result result) {
            // Who is awake by himself has something to take; so has who is woken.
            result.r3 = result.r1 == 0 && ring.hasCommitted() ? 1 : 0;
        }
    }

    /** The consumer naps, for another time, while a producer commits what cannot wait. */
    @JCStressTest
    @Outcome(id = {"1, 0, 0", "0, 1, 1"}, expect = Expect.ACCEPTABLE,
            desc = "It is woken, or has seen the frame and stays awake.")
    @Outcome(id = {"1, 1, 0"}, expect = Expect.ACCEPTABLE, desc = "It napped, and is woken.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A request with nobody who takes it.")
    @State
    public static class NoRequestWaitsForANap extends Small {

        public NoRequestWaitsForANap() {
            ring.nap(24);
        }

        @Actor
        public void producer(III_Result result) {
            result.r1 = put(Frame.REQUEST, 1);
        }

        @Actor
        public void consumer(III_Result result) {
            result.r2 = ring.nap(16) ? 0 : 1;
        }

        @Arbiter
        public void seen(III_Result result) {
            result.r3 = result.r1 == 0 && ring.hasCommitted() ? 1 : 0;
        }
    }

    /** A frame is given back while another thread waits for its room. */
    @JCStressTest
    @Outcome(id = {"-1, 12, 0", "0, 12, 3"}, expect = Expect.ACCEPTABLE, desc = "There was room, or there was not.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Written over, or lost.")
    @State
    public static class RoomIsZero extends Small {

        private final int before;

        public RoomIsZero() {
            put(1);
            put(2);
            before = take();
        }

        @Actor
        public void producer(III_Result result) {
            result.r1 = put(3);
        }

        @Actor
        public void consumer() {
            ring.free(2 * FRAME);
        }

        @Arbiter
        public void rest(III_Result result) {
            result.r2 = before;
            result.r3 = take();
        }
    }
}
