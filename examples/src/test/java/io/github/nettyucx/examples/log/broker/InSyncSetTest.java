// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.cluster.ClusterCommand;
import io.github.nettyucx.examples.log.cluster.ClusterCommand.ChangeInSync;
import io.github.nettyucx.examples.log.cluster.ClusterState;
import io.github.nettyucx.examples.log.cluster.ClusterState.RejectedException;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A leader counts everybody of whom the cluster may think that they are in sync. */
class InSyncSetTest {

    /** Answers by hand. */
    private static final class Slow implements InSyncSet.Owner {
        private ClusterState state = new ClusterState(4, "a", 7, new TreeSet<>(List.of("a", "b", "c")), new TreeMap<>());
        private ClusterCommand asked;
        private CompletableFuture<ClusterState> answer;
        private int changes;
        private Throwable refusal;

        @Override
        public CompletableFuture<ClusterState> submit(ClusterCommand command) {
            assertEquals(null, asked, "two are under way");
            asked = command;
            answer = new CompletableFuture<>();
            return answer;
        }

        /** The cluster has agreed, and the leader does not know it yet. */
        void agree() throws RejectedException {
            state = state.apply(asked);
        }

        void answer() {
            var done = answer;
            asked = null;
            done.complete(state);
        }

        @Override
        public void changed() {
            changes++;
        }

        @Override
        public void refused(Throwable cause) {
            refusal = cause;
        }
    }

    private final Slow cluster = new Slow();
    private final InSyncSet set = new InSyncSet(cluster.state, cluster);

    @Test
    void whoLeavesIsCountedUntilTheClusterHasAgreed() throws Exception {
        assertEquals(Set.of("b", "c"), set.counted());
        set.leave("c");
        assertEquals(new ChangeInSync(4, 7, new TreeSet<>(List.of("a", "b"))), cluster.asked);
        assertEquals(Set.of("b", "c"), set.counted());
        cluster.agree();
        assertEquals(Set.of("b", "c"), set.counted());
        cluster.answer();
        assertEquals(Set.of("b"), set.counted());
        assertEquals(1, cluster.changes);
        assertEquals(1, set.size());
    }

    @Test
    void whoReturnsIsCountedBeforeTheClusterIsAsked() throws Exception {
        set.leave("b");
        set.leave("c");
        cluster.agree();
        cluster.answer();
        // The second has waited for the first.
        assertEquals(new ChangeInSync(4, 8, new TreeSet<>(List.of("a"))), cluster.asked);
        set.join("b");
        assertEquals(Set.of("b", "c"), set.counted());
        cluster.agree();
        cluster.answer();
        assertEquals(Set.of("b"), set.counted());
        assertEquals(new ChangeInSync(4, 9, new TreeSet<>(List.of("a", "b"))), cluster.asked);
        assertEquals(0, set.size());
        cluster.agree();
        cluster.answer();
        assertEquals(1, set.size());
        // It is said again and again.
        set.join("b");
        assertEquals(null, cluster.asked);
    }

    @Test
    void whoIsGoneWhileTheClusterIsAskedIsCountedUntilThatIsUndone() throws Exception {
        set.leave("c");
        cluster.agree();
        cluster.answer();
        set.join("c");
        set.leave("c");
        assertTrue(set.counted().contains("c"));
        cluster.agree();
        cluster.answer();
        assertTrue(set.counted().contains("c"));
        cluster.agree();
        cluster.answer();
        assertEquals(Set.of("b"), set.counted());
    }

    /** Also if it comes back meanwhile: it will have left, and has to join anew. */
    @Test
    void whoIsAboutToLeaveDoesNotStay() throws Exception {
        assertTrue(set.stays("b") && set.stays("c"));
        set.leave("c");
        assertTrue(set.stays("b"));
        assertFalse(set.stays("c"));
        set.join("c");
        assertFalse(set.stays("c"));
        set.leave("b");
        assertFalse(set.stays("b"));
        cluster.agree();
        cluster.answer();
        assertFalse(set.stays("b") || set.stays("c"));
        set.join("c");
        cluster.agree();
        cluster.answer();
        assertFalse(set.stays("b") || set.stays("c"));
        cluster.agree();
        cluster.answer();
        assertTrue(set.stays("c"));
        assertFalse(set.stays("b"));
    }

    @Test
    void withoutAnAgreementEverybodyStaysCounted() {
        set.leave("c");
        var cause = new IllegalStateException("not the leader of Raft");
        cluster.answer.completeExceptionally(cause);
        assertEquals(cause, cluster.refusal);
        assertEquals(Set.of("b", "c"), set.counted());
        cluster.asked = null;
        set.leave("b");
        assertEquals(null, cluster.asked);
        assertEquals(Set.of("b", "c"), set.counted());
    }

    /** Whatever the leader does not know yet: it counts no fewer than the cluster does. */
    @Test
    void nobodyIsEverMissing() throws Exception {
        var seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
        System.out.println("seed " + seed);
        var random = new SplittableRandom(seed);
        var agreed = false;
        for (var i = 0; i < 20_000; i++) {
            var node = random.nextBoolean() ? "b" : "c";
            switch (random.nextInt(4)) {
                case 0 -> set.join(node);
                case 1 -> set.leave(node);
                case 2 -> {
                    if (cluster.asked != null && !agreed) {
                        cluster.agree();
                        agreed = true;
                    }
                }
                default -> {
                    if (agreed) {
                        agreed = false;
                        cluster.answer();
                    }
                }
            }
            var counted = new TreeSet<>(set.counted());
            counted.add("a");
            assertTrue(counted.containsAll(cluster.state.inSync()), counted + ", and the cluster: " + cluster.state);
        }
        assertTrue(cluster.changes > 1000, cluster.changes + " changes");
    }
}
