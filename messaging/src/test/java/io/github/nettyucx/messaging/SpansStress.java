// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicInteger;

/** What jcstress runs; {@link StressTest} has it run. */
final class SpansStress {

    private SpansStress() {
    }

    /** Some spans that are under way. */
    abstract static class Begun {

        static final int LENGTH = 8;
        private static final int CAPACITY = LENGTH * Spans.COUNT;

        final Ring ring = new Ring(CAPACITY, Arena.ofAuto().allocate(Ring.size(CAPACITY), Frame.ALIGNMENT));
        final AtomicInteger told = new AtomicInteger();
        final Spans spans = new Spans(ring, told::incrementAndGet);
        final SpanBuffer[] begun = new SpanBuffer[Spans.COUNT];
        private int count;

        Begun(int count) {
            while (this.count < count) {
                begin();
            }
        }

        final void begin() {
            spans.next();
            begun[count] = spans.begin(count * LENGTH, LENGTH, (count + 1) * LENGTH);
            count++;
        }

        final void discard() {
            spans.next();
            count++;
            spans.discard(count * LENGTH);
        }
    }

    // No more than two actors each: with fewer processors jcstress leaves a test out.

    @JCStressTest
    @Outcome(id = "16", expect = Expect.ACCEPTABLE, desc = "The ring has both back.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost.")
    @State
    public static class ReleasedTogether extends Begun {

        public ReleasedTogether() {
            super(2);
        }

        @Actor
        public void first() {
            begun[0].release();
        }

        @Actor
        public void second() {
            begun[1].release();
        }

        @Arbiter
        public void head(I_Result result) {
            result.r1 = (int) ring.head();
        }
    }

    @JCStressTest
    @Outcome(id = {"8, 16"}, expect = Expect.ACCEPTABLE, desc = "The ring has the first one back, and then the other.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost, or given back while it is under way.")
    @State
    public static class BegunMeanwhile extends Begun {

        public BegunMeanwhile() {
            super(1);
        }

        @Actor
        public void consumer() {
            begin();
        }

        @Actor
        public void channel() {
            begun[0].release();
        }

        @Arbiter
        public void head(II_Result result) {
            result.r1 = (int) ring.head();
            begun[1].release();
            result.r2 = (int) ring.head();
        }
    }

    @JCStressTest
    @Outcome(id = "16", expect = Expect.ACCEPTABLE, desc = "The ring has both back.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost.")
    @State
    public static class DiscardedMeanwhile extends Begun {

        public DiscardedMeanwhile() {
            super(1);
        }

        @Actor
        public void consumer() {
            discard();
        }

        @Actor
        public void channel() {
            begun[0].release();
        }

        @Arbiter
        public void head(I_Result result) {
            result.r1 = (int) ring.head();
        }
    }

    /** The consumer finds none that is free while the channel releases one. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "There was none, and it is told.")
    @Outcome(id = {"0, 0", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "There was one.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "There was none, and nobody tells.")
    @State
    public static class NoneIsFree extends Begun {

        public NoneIsFree() {
            super(Spans.COUNT);
        }

        @Actor
        public void consumer(II_Result result) {
            result.r1 = spans.next() == null ? 1 : 0;
        }

        @Actor
        public void channel() {
            begun[0].release();
        }

        @Arbiter
        public void told(II_Result result) {
            result.r2 = told.get();
        }
    }

    /** The consumer wants to know when the channel has sent something. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "One was under way, and it is told.")
    @Outcome(id = {"0, 0", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "None was.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One was under way, and nobody tells.")
    @State
    public static class ToldWhenFree extends Begun {

        public ToldWhenFree() {
            super(1);
        }

        @Actor
        public void consumer(II_Result result) {
            result.r1 = spans.tellWhenFree() ? 1 : 0;
        }

        @Actor
        public void channel() {
            begun[0].release();
        }

        @Arbiter
        public void told(II_Result result) {
            result.r2 = told.get();
        }
    }
}
