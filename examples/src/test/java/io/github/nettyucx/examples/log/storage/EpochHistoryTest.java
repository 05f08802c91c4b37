// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.storage.EpochHistory.Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By the epochs of their records two logs find up to where they are the same. */
class EpochHistoryTest {
    @TempDir
    private Path directory;

    private static List<Entry> history(long... numbers) {
        var entries = new ArrayList<Entry>();
        for (var i = 0; i < numbers.length; i += 2) {
            entries.add(new Entry(numbers[i], numbers[i + 1]));
        }
        return entries;
    }

    private EpochHistory open() throws Exception {
        return EpochHistory.open(directory, Durability.PAGE_CACHE);
    }

    @Test
    void epochsAreThereAfterAnotherOpening() throws Exception {
        open().begin(1, 0);
        open().begin(3, 10);
        assertEquals(history(1, 0, 3, 10), open().entries());
        // Epochs 3 and 4 have made no record, at least none that is left.
        open().begin(4, 10);
        open().begin(5, 7);
        assertEquals(history(1, 0, 5, 7), open().entries());
        open().adopt(history(1, 0, 2, 5, 6, 9));
        assertEquals(history(1, 0, 2, 5, 6, 9), open().entries());
        assertThrows(LogException.class, () -> open().adopt(history(2, 0, 1, 5)));
        assertThrows(LogException.class, () -> open().adopt(history(1, 5, 2, 5)));
        assertEquals(history(1, 0, 2, 5, 6, 9), open().entries());
    }

    @Test
    void aDamagedFileIsTold() throws Exception {
        for (var text : List.of("1\n", "x 0\n", "1 0\n1 5\n", "1 5\n2 4\n", "0 0\n")) {
            Files.writeString(directory.resolve("epochs"), text);
            var refused = assertThrows(LogException.class, this::open);
            assertTrue(refused.getMessage().contains("epochs is damaged in the line '"), refused.getMessage());
        }
    }

    @Test
    void logsAreTheSameUpToTheEndOfTheLastEpochThatBothHave() throws Exception {
        // The leader of epoch 1 has written 10 records, of which its successor had 7.
        assertEquals(7, EpochHistory.commonEnd(history(1, 0), 10, history(1, 0, 2, 7), 20));
        // One that lacks some, of the same epoch and of a later one.
        assertEquals(5, EpochHistory.commonEnd(history(1, 0), 5, history(1, 0, 2, 7), 20));
        assertEquals(8, EpochHistory.commonEnd(history(1, 0, 2, 7), 8, history(1, 0, 2, 7), 20));
        // It was told of epoch 2 before it had the records in front of it.
        assertEquals(4, EpochHistory.commonEnd(history(1, 0, 2, 7), 4, history(1, 0, 2, 7, 3, 15), 20));
        // Epoch 2 was its own, and nobody else had its records.
        assertEquals(7, EpochHistory.commonEnd(history(1, 0, 2, 7), 9, history(1, 0, 3, 7), 20));
        // Nothing is the same, and nothing is there.
        assertEquals(0, EpochHistory.commonEnd(history(2, 0), 9, history(1, 0), 9));
        assertEquals(0, EpochHistory.commonEnd(history(), 0, history(1, 0), 9));
        var refused = assertThrows(LogException.class,
                () -> EpochHistory.commonEnd(history(1, 0, 2, 5), 9, history(1, 0, 2, 6), 9));
        assertTrue(refused.getMessage().contains("begins with record 5 here, and with 6 at the leader"));
    }

    /** A broker's log as the epoch of each record, and what its files would say. */
    private static final class Log {
        private final List<Long> epochs = new ArrayList<>();
        /** Which record it is: no two are the same. */
        private final List<Integer> records = new ArrayList<>();
        private List<Entry> history = List.of();

        void begin(long epoch) {
            var kept = new ArrayList<>(history.stream().filter(entry -> entry.start() < epochs.size()).toList());
            kept.add(new Entry(epoch, epochs.size()));
            history = kept;
        }

        void cut(long to) {
            epochs.subList((int) to, epochs.size()).clear();
            records.subList((int) to, records.size()).clear();
        }
    }

    /** Leaders come and go; whoever follows has a part of what its leader has, and whoever leads may have any. */
    @Test
    void whatIsCutOffIsExactlyWhatDiffers() throws Exception {
        var seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
        System.out.println("seed " + seed);
        var random = new SplittableRandom(seed);
        var cuts = 0;
        for (var run = 0; run < 300; run++) {
            var logs = List.of(new Log(), new Log(), new Log());
            var made = 0;
            for (long epoch = 1; epoch < 12; epoch++) {
                var leader = logs.get(random.nextInt(3));
                leader.begin(epoch);
                for (var step = random.nextInt(6); step > 0; step--) {
                    for (var more = random.nextInt(4); more > 0; more--) {
                        leader.epochs.add(epoch);
                        leader.records.add(made++);
                    }
                    var follower = logs.get(random.nextInt(3));
                    if (follower == leader) {
                        continue;
                    }
                    var common = (int) EpochHistory.commonEnd(follower.history, follower.records.size(), leader.history,
                            leader.records.size());
                    assertEquals(sameUpTo(follower.records, leader.records), common);
                    cuts += common < follower.records.size() ? 1 : 0;
                    follower.cut(common);
                    // It may be killed between the two.
                    if (random.nextInt(4) > 0) {
                        follower.history = leader.history;
                        var end = common + random.nextInt(leader.records.size() - common + 1);
                        follower.records.addAll(leader.records.subList(common, end));
                        follower.epochs.addAll(leader.epochs.subList(common, end));
                    }
                }
            }
        }
        assertTrue(cuts > 300, cuts + " cuts");
    }

    private static int sameUpTo(List<Integer> some, List<Integer> others) {
        var same = 0;
        while (same < Math.min(some.size(), others.size()) && some.get(same).equals(others.get(same))) {
            same++;
        }
        return same;
    }
}
