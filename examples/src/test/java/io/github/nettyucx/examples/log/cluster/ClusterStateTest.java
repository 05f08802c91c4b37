// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.cluster.ClusterCommand.AddTopic;
import io.github.nettyucx.examples.log.cluster.ClusterCommand.ChangeInSync;
import io.github.nettyucx.examples.log.cluster.ClusterCommand.Lead;
import io.github.nettyucx.examples.log.cluster.ClusterState.RejectedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What the brokers of a cluster agree on changes as it has to, and in no other way. */
class ClusterStateTest {
    private static final List<String> NODES = List.of("a", "b", "c");

    private final ClusterState initial = ClusterState.initial(set("a", "b", "c"));

    private static SortedSet<String> set(String... names) {
        return new TreeSet<>(List.of(names));
    }

    private static String rejection(ClusterState state, ClusterCommand command) {
        return assertThrows(RejectedException.class, () -> state.apply(command)).getMessage();
    }

    @Test
    void eachLeadershipHasTheNextEpoch() throws Exception {
        var first = initial.apply(new Lead("b", 0));
        assertEquals(1, first.epoch());
        assertEquals("b", first.leader());
        // The same broker too, when it begins again.
        assertEquals(2, first.apply(new Lead("b", 1)).epoch());
        // Two that claim the same: the second comes too late.
        assertEquals("epoch 1 of b has begun, and not 0", rejection(first, new Lead("c", 0)));
    }

    @Test
    void nothingChangesBeforeTheFirstLeader() {
        assertEquals("no epoch has begun", rejection(initial, new ChangeInSync(0, 0, set("a"))));
        assertEquals("no epoch has begun", rejection(initial, new AddTopic(0, "t", 1)));
    }

    /** Two clients ask at the same time, and a leader that looks only at what it has sees room for both. */
    @Test
    void noMorePartitionsAreAgreedOnThanABrokerCanHave() throws Exception {
        var first = initial.apply(new Lead("a", 0)).apply(new AddTopic(1, "t", 300));
        assertEquals("with topic u there would be 600 partitions (expected: 512 at most)",
                rejection(first, new AddTopic(1, "u", 300)));
        assertEquals(2, first.apply(new AddTopic(1, "u", 212)).topics().size());
        // Again, by who has not been told.
        assertEquals(first, first.apply(new AddTopic(1, "t", 300)));
    }

    @Test
    void onlyWhoIsInSyncMayLead() throws Exception {
        var without = initial.apply(new Lead("a", 0)).apply(new ChangeInSync(1, 0, set("a", "b")));
        assertEquals("c is not in sync: [a, b] are", rejection(without, new Lead("c", 1)));
        var back = without.apply(new ChangeInSync(1, 1, set("a", "b", "c")));
        assertEquals("c", back.apply(new Lead("c", 1)).leader());
    }

    @Test
    void onlyTheLeaderOfTheEpochChangesTheSetAndEachTimeOnce() throws Exception {
        var first = initial.apply(new Lead("a", 0));
        var without = new ChangeInSync(1, 0, set("a", "b"));
        var second = first.apply(without);
        assertEquals("the set has changed 1 times, and not 0", rejection(second, without));
        assertEquals("the leader, a, is in sync always", rejection(second, new ChangeInSync(1, 1, set("b"))));
        var third = second.apply(new Lead("b", 1));
        assertEquals("this is epoch 2 of b, and not 1", rejection(third, new ChangeInSync(1, 1, set("a"))));
        assertEquals("this is epoch 2 of b, and not 1", rejection(third, new AddTopic(1, "t", 1)));
    }

    @Test
    void topicsStayAsTheyAre() throws Exception {
        var with = initial.apply(new Lead("a", 0)).apply(new AddTopic(1, "t", 3));
        assertEquals(with, with.apply(new AddTopic(1, "t", 3)));
        assertEquals("topic t has 3 partitions", rejection(with, new AddTopic(1, "t", 4)));
        assertEquals(Map.of("t", 3), with.topics());
    }

    /** Whatever comes in whatever order: epochs rise, each has one leader, and that is one that was in sync before. */
    @Test
    void noOrderOfCommandsGivesAnEpochTwoLeaders() throws IOException {
        var seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
        System.out.println("seed " + seed);
        var random = new SplittableRandom(seed);
        var accepted = 0;
        for (var run = 0; run < 200; run++) {
            var state = initial;
            for (var i = 0; i < 50; i++) {
                var before = state;
                var command = random(random, state);
                assertEquals(command, ClusterCommand.of(command.toBytes()));
                try {
                    state = state.apply(command);
                    accepted++;
                } catch (RejectedException e) {
                    continue;
                }
                assertEquals(state, ClusterState.of(state.toBytes()));
                assertTrue(state.inSync().contains(state.leader()), state::toString);
                if (state.epoch() == before.epoch()) {
                    assertEquals(before.leader(), state.leader());
                } else {
                    assertEquals(before.epoch() + 1, state.epoch());
                    assertTrue(before.inSync().contains(state.leader()), () -> before + ": " + command);
                    assertEquals(before.inSync(), state.inSync());
                }
            }
        }
        assertTrue(accepted > 1000, accepted + " were accepted");
    }

    private static ClusterCommand random(SplittableRandom random, ClusterState state) {
        var epoch = state.epoch() - random.nextInt(2);
        return switch (random.nextInt(3)) {
            case 0 -> new Lead(NODES.get(random.nextInt(3)), epoch);
            case 1 -> {
                var some = new ArrayList<>(NODES);
                some.removeIf(_ -> random.nextInt(3) == 0);
                yield new ChangeInSync(epoch, state.version() - random.nextInt(2), new TreeSet<>(some));
            }
            default -> new AddTopic(epoch, "t" + random.nextInt(3), 1 + random.nextInt(2));
        };
    }

    @Test
    void whatIsNoCommandIsRefused() {
        assertEquals("a command is of kind 9 (expected: 1 to 3)",
                assertThrows(IOException.class, () -> ClusterCommand.of(new byte[] {9})).getMessage());
    }
}
