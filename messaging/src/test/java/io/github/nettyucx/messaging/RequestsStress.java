// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What jcstress runs; {@link StressTest} has it run. */
final class RequestsStress {

    private RequestsStress() {
    }

    /** A request that counts how often it ends. */
    static final class Asked extends Pending {

        final AtomicInteger ends = new AtomicInteger();

        @Override
        void succeed(Object response) {
            ends.incrementAndGet();
        }

        @Override
        void fail(MessagingException cause) {
            ends.incrementAndGet();
        }
    }

    /** A table for one request. */
    abstract static class Table {

        /** Its loop has nothing to do: whoever looks at deadlines is an actor. */
        @SuppressWarnings("deprecation") // of Netty 4.2
        private static final Node NODE = Node.builder(1).ringCapacity(Ring.MIN_CAPACITY)
                .transport(new NioEventLoopGroup(1), NioSocketChannel.class, NioServerSocketChannel.class).start();
        static final Peer PEER = NODE.peer(2);

        final Requests requests = new Requests(NODE, 1);

        /** @return whether there was room, as 1 */
        final int add(Asked request) {
            request.peer = PEER;
            request.isTimed = false;
            try {
                requests.add(request);
            } catch (MessagingException e) {
                return 0;
            }
            return 1;
        }
    }

    /** The request is there. It is lost with its connection, and its time is over. */
    abstract static class One extends Table {

        private static final MessagingException LOST = new MessagingException.NodeLost("for a test", null);
        private static final long LOST_BELOW = 2;

        final Asked request = new Asked();
        final long correlation;

        One() {
            request.deadlineNanos = System.nanoTime() - 1;
            add(request);
            request.isTimed = true;
            request.ticket = LOST_BELOW - 1;
            correlation = request.correlation;
        }

        /** @return whether that has ended it, as 1 */
        final int respond() {
            Pending taken = requests.take(correlation, PEER);
            if (taken == null) {
                return 0;
            }
            taken.succeed("");
            return 1;
        }

        final void cancel() {
            if (requests.take(correlation) != null) {
                request.ends.incrementAndGet();
            }
        }

        final void expire() {
            requests.endLate();
        }

        final void lose() {
            requests.fail(PEER, LOST_BELOW, LOST);
        }

        /** How often it has ended, and whether another one can take its place, and be found there. */
        final void judge(II_Result result) {
            result.r1 = request.ends.get();
            var next = new Asked();
            result.r2 = add(next) == 1 && requests.take(next.correlation) == next ? 1 : 0;
        }

        /** Ends it, if nobody else does, and uses the object again, as a thread does that waits for each answer. */
        final int useAgain() {
            if (requests.take(correlation) == null) {
                return 0;
            }
            request.deadlineNanos = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
            int added = add(request);
            request.isTimed = true;
            return added;
        }

        /** Whether the other one is still there, as 1. */
        final int isThereAgain() {
            return request.correlation != correlation && requests.take(request.correlation) == request ? 1 : 0;
        }
    }

    // No more than two actors each: with fewer processors jcstress leaves a test out.

    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "It has ended once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Twice, not at all, or its place is lost.")
    @State
    public static class ResponseAgainstTimeout extends One {

        @Actor
        public void response() {
            respond();
        }

        @Actor
        public void timeout() {
            expire();
        }

        @Arbiter
        public void ended(II_Result result) {
            judge(result);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "It has ended once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Twice, not at all, or its place is lost.")
    @State
    public static class ResponseAgainstLoss extends One {

        @Actor
        public void response() {
            respond();
        }

        @Actor
        public void loss() {
            lose();
        }

        @Arbiter
        public void ended(II_Result result) {
            judge(result);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "It has ended once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Twice, not at all, or its place is lost.")
    @State
    public static class CancellationAgainstResponse extends One {

        @Actor
        public void cancellation() {
            cancel();
        }

        @Actor
        public void response() {
            respond();
        }

        @Arbiter
        public void ended(II_Result result) {
            judge(result);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "It has ended once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Twice, not at all, or its place is lost.")
    @State
    public static class TimeoutAgainstLoss extends One {

        @Actor
        public void timeout() {
            expire();
        }

        @Actor
        public void loss() {
            lose();
        }

        @Arbiter
        public void ended(II_Result result) {
            judge(result);
        }
    }

    @JCStressTest
    @Outcome(id = {"1, 0, 1", "0, 1, 1"}, expect = Expect.ACCEPTABLE, desc = "One has the place, and is found there.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both have it, or none.")
    @State
    public static class OnePlace extends Table {

        private final Asked first = new Asked();
        private final Asked second = new Asked();

        @Actor
        public void first(III_Result result) {
            result.r1 = add(first);
        }

        @Actor
        public void second(III_Result result) {
            result.r2 = add(second);
        }

        @Arbiter
        public void found(III_Result result) {
            Asked there = result.r1 == 1 ? first : second;
            result.r3 = requests.take(there.correlation) == there ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "The response was late.")
    @Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "It was in time.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It has ended another request.")
    @State
    public static class LateResponse extends One {

        @Actor
        public void asker(III_Result result) {
            result.r1 = useAgain();
        }

        @Actor
        public void response() {
            respond();
        }

        @Arbiter
        public void ended(III_Result result) {
            result.r2 = request.ends.get();
            result.r3 = isThereAgain();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "It had ended before.")
    @Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "Its time was over.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Another request has ended, whose time is not over.")
    @State
    public static class LateTimeout extends One {

        @Actor
        public void asker(III_Result result) {
            result.r1 = useAgain();
        }

        @Actor
        public void timeout() {
            expire();
        }

        @Arbiter
        public void ended(III_Result result) {
            result.r2 = request.ends.get();
            result.r3 = isThereAgain();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "It had ended before.")
    @Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "It was lost.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Another request has ended, which was sent later.")
    @State
    public static class LateLoss extends One {

        @Actor
        public void asker(III_Result result) {
            result.r1 = useAgain();
        }

        @Actor
        public void loss() {
            lose();
        }

        @Arbiter
        public void ended(III_Result result) {
            result.r2 = request.ends.get();
            result.r3 = isThereAgain();
        }
    }
}
