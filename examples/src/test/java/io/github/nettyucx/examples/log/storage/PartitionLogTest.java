// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is appended is there after any end of the process, and nothing else is. */
class PartitionLogTest {
    private static final int CAPACITY = 4096;

    @TempDir
    private Path directory;

    private static byte[] record(byte[] payload) {
        var buffer = Records.encode(UnpooledByteBufAllocator.DEFAULT, payload);
        var bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes).release();
        return bytes;
    }

    private static byte[] payload(int number, int length) {
        var payload = new byte[length];
        new SplittableRandom(number).nextBytes(payload);
        return payload;
    }

    private PartitionLog open() throws IOException {
        return PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE);
    }

    /** All records, as the files have them. */
    private static List<byte[]> contents(PartitionLog log) throws IOException {
        var payloads = new ArrayList<byte[]>();
        for (var segment : log.segments()) {
            var bytes = ByteBuffer.allocate(segment.size());
            segment.read(bytes, 0);
            for (int at = 0, length; at < segment.size(); at += length) {
                length = Records.check(bytes, at, segment.size());
                assertTrue(length > 0, segment.path() + " at " + at);
                assertEquals(at, segment.position(payloads.size()));
                payloads.add(Arrays.copyOfRange(bytes.array(), at + Records.HEADER, at + length));
            }
        }
        return payloads;
    }

    private static void assertContents(List<byte[]> expected, PartitionLog log) throws IOException {
        var contents = contents(log);
        assertEquals(expected.size(), contents.size());
        for (var i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i), contents.get(i), "record " + i);
        }
        assertEquals(expected.size(), log.nextOffset());
    }

    @Test
    void recordsAreThereAfterAnotherOpening() throws Exception {
        var expected = new ArrayList<byte[]>();
        for (var opening = 0; opening < 5; opening++) {
            try (var log = open()) {
                assertContents(expected, log);
                for (var i = 0; i < 60; i++) {
                    var payload = payload(i, i * 7 % 300);
                    if (log.active().capacity() - log.active().size() < payload.length + Records.HEADER) {
                        log.roll();
                    }
                    log.append(ByteBuffer.wrap(record(payload)));
                    expected.add(payload);
                }
                assertContents(expected, log);
            }
        }
        try (var log = open()) {
            assertTrue(log.segments().size() > 10);
            for (var segment : log.segments()) {
                assertEquals(segment == log.active() ? CAPACITY : segment.size(), Files.size(segment.path()));
            }
            assertEquals(log.segments().get(3), log.find(log.segments().get(4).baseOffset() - 1));
            assertEquals(log.active(), log.find(log.nextOffset()));
            assertThrows(LogException.class, () -> log.find(log.nextOffset() + 1));
            assertThrows(LogException.class, () -> log.find(-1));
        }
    }

    @Test
    void severalRecordsAreAppendedAtOnce() throws Exception {
        try (var log = open()) {
            var first = record(payload(1, 10));
            var second = record(payload(2, 0));
            log.append(ByteBuffer.allocate(first.length + second.length).put(first).put(second).flip());
            assertContents(List.of(payload(1, 10), new byte[0]), log);
        }
    }

    @Test
    void whatDoesNotFitIsRefused() throws Exception {
        try (var log = open()) {
            var refused = assertThrows(IllegalArgumentException.class,
                    () -> log.append(ByteBuffer.wrap(record(payload(0, CAPACITY)))));
            assertTrue(refused.getMessage().contains("expected: at most 4096"), refused.getMessage());
            assertContents(List.of(), log);
        }
    }

    /** Five records in the active segment; returns where each begins, and the end. */
    private int[] write(List<byte[]> payloads) throws IOException {
        var starts = new int[payloads.size() + 1];
        try (var log = open()) {
            for (var i = 0; i < payloads.size(); i++) {
                log.append(ByteBuffer.wrap(record(payloads.get(i))));
                starts[i + 1] = log.active().size();
            }
        }
        return starts;
    }

    private static int recordsBefore(int position, int[] starts) {
        var whole = 0;
        while (whole + 1 < starts.length && starts[whole + 1] <= position) {
            whole++;
        }
        return whole;
    }

    @Test
    void aDamagedByteAnywhereCutsTheLogThere() throws Exception {
        var payloads = List.of(payload(1, 5), payload(2, 0), payload(3, 40), payload(4, 1), payload(5, 17));
        var starts = write(payloads);
        var file = directory.resolve("0".repeat(20) + SegmentFile.SUFFIX);
        var whole = Files.readAllBytes(file);
        assertEquals(CAPACITY, whole.length);
        // Behind the records too: zeros that are none any more are no record.
        for (var position = 0; position < starts[payloads.size()] + 20; position++) {
            for (var bit = 0; bit < 8; bit++) {
                var damaged = whole.clone();
                damaged[position] ^= (byte) (1 << bit);
                deleteAll();
                Files.write(file, damaged);
                var kept = payloads.subList(0, recordsBefore(position, starts));
                try (var log = open()) {
                    assertContents(kept, log);
                    log.append(ByteBuffer.wrap(record(payload(9, 9))));
                }
                try (var log = open()) {
                    var expected = new ArrayList<>(kept);
                    expected.add(payload(9, 9));
                    assertContents(expected, log);
                }
            }
        }
    }

    @Test
    void aFileThatIsCutAnywhereHasTheRecordsBefore() throws Exception {
        var payloads = List.of(payload(1, 5), payload(2, 0), payload(3, 40), payload(4, 1), payload(5, 17));
        var starts = write(payloads);
        var file = directory.resolve("0".repeat(20) + SegmentFile.SUFFIX);
        var whole = Files.readAllBytes(file);
        for (var length = 0; length <= starts[payloads.size()]; length++) {
            deleteAll();
            Files.write(file, Arrays.copyOf(whole, length));
            try (var log = open()) {
                assertContents(payloads.subList(0, recordsBefore(length, starts)), log);
            }
        }
    }

    @Test
    void aDamagedSegmentWithOthersBehindItIsNotPassedOver() throws Exception {
        try (var log = open()) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 50))));
                log.append(ByteBuffer.wrap(record(payload(i, 50))));
                log.roll();
            }
        }
        var second = directory.resolve("00000000000000000002.log");
        var whole = Files.readAllBytes(second);
        var damaged = whole.clone();
        damaged[70] ^= 1;
        Files.write(second, damaged);
        var refused = assertThrows(LogException.class, this::open);
        assertTrue(refused.getMessage().contains("is damaged at byte 58 of 116, behind record 2"), refused.getMessage());
        Files.write(second, Arrays.copyOf(whole, 58));
        refused = assertThrows(LogException.class, this::open);
        assertTrue(refused.getMessage().contains("then 00000000000000000003.log"), refused.getMessage());
        Files.write(second, whole);
        try (var log = open()) {
            assertEquals(6, contents(log).size());
        }
    }

    @Test
    void recordsFromAnyOffsetOnAreCutOff() throws Exception {
        var payloads = new ArrayList<byte[]>();
        for (var i = 0; i < 12; i++) {
            payloads.add(payload(i, i * 9));
        }
        for (var reopened : List.of(false, true)) {
            for (var cut = 0; cut <= payloads.size(); cut++) {
                deleteAll();
                var log = open();
                for (var i = 0; i < payloads.size(); i++) {
                    log.append(ByteBuffer.wrap(record(payloads.get(i))));
                    if (i % 4 == 2) {
                        log.roll();
                    }
                }
                if (reopened) {
                    log.close();
                    log = open();
                }
                log.truncate(cut);
                var expected = new ArrayList<>(payloads.subList(0, cut));
                assertContents(expected, log);
                // What comes then is found where it is.
                log.append(ByteBuffer.wrap(record(payload(99, 20))));
                expected.add(payload(99, 20));
                assertContents(expected, log);
                log.close();
                try (var again = open()) {
                    assertContents(expected, again);
                }
            }
        }
    }

    /** In a file that is cut while it is mapped, pages that are behind the new end are no memory any more. */
    @Test
    void whoeverHasASegmentMappedKeepsWhatWasCutOff() throws Exception {
        try (var log = PartitionLog.open(directory, 1 << 20, Durability.DISK)) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 100_000))));
            }
            log.roll();
            var mapped = log.segments().getFirst().map();
            log.truncate(1);
            assertEquals(1, log.nextOffset());
            var last = new byte[100_000];
            mapped.get(mapped.limit() - last.length, last);
            assertArrayEquals(payload(2, 100_000), last);
            assertContents(List.of(payload(0, 100_000)), log);
        }
        try (var log = PartitionLog.open(directory, 1 << 20, Durability.DISK)) {
            assertContents(List.of(payload(0, 100_000)), log);
        }
    }

    @Test
    void ofACutThatFailsNothingIsLeft() throws Exception {
        try (var log = open()) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 10))));
            }
            log.roll();
            var obstacle = Files.createDirectory(directory.resolve(SegmentFile.CUT));
            assertThrows(IOException.class, () -> log.truncate(2));
            assertEquals(3, log.nextOffset());
            Files.delete(obstacle);
            log.truncate(2);
            assertContents(List.of(payload(0, 10), payload(1, 10)), log);
            try (var files = Files.list(directory)) {
                assertEquals(2, files.count());
            }
        }
        // As a process leaves it that is killed in the middle.
        Files.write(directory.resolve(SegmentFile.CUT), new byte[3]);
        try (var log = open()) {
            assertContents(List.of(payload(0, 10), payload(1, 10)), log);
        }
        assertFalse(Files.exists(directory.resolve(SegmentFile.CUT)));
    }

    /** Each step leaves a log, so a kill between two of them does too; here a kill leaves each state of the files. */
    @Test
    void aCutThatWasNotFinishedLeavesALog() throws Exception {
        for (var left = 0; left < 4; left++) {
            deleteAll();
            try (var log = open()) {
                for (var i = 0; i < 9; i++) {
                    log.append(ByteBuffer.wrap(record(payload(i, 30))));
                    if (i % 3 == 2) {
                        log.roll();
                    }
                }
            }
            // From the end on: the empty one, then those with records.
            for (var i = 0; i < left; i++) {
                Files.delete(directory.resolve(String.format("%020d%s", (3 - i) * 3, SegmentFile.SUFFIX)));
            }
            try (var log = open()) {
                assertEquals(left == 0 ? 9 : 12 - left * 3, log.nextOffset());
                log.truncate(2);
                assertContents(List.of(payload(0, 30), payload(1, 30)), log);
            }
        }
    }

    /** As on a disk that is full for a while. */
    @Test
    void aSegmentThatCouldNotBeMadeIsMadeLater() throws Exception {
        try (var log = open()) {
            log.append(ByteBuffer.wrap(record(payload(1, 10))));
            var obstacle = Files.createDirectory(directory.resolve("00000000000000000001.log"));
            assertThrows(IOException.class, log::roll);
            assertThrows(IOException.class, log::roll);
            assertContents(List.of(payload(1, 10)), log);
            Files.delete(obstacle);
            log.roll();
            log.append(ByteBuffer.wrap(record(payload(2, 20))));
            assertContents(List.of(payload(1, 10), payload(2, 20)), log);
        }
        try (var log = open()) {
            assertContents(List.of(payload(1, 10), payload(2, 20)), log);
        }
    }

    @Test
    void recordsAreCutOffWhenTheNextSegmentCouldNotBeMade() throws Exception {
        try (var log = open()) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 10))));
            }
            Files.createDirectory(directory.resolve("00000000000000000003.log"));
            assertThrows(IOException.class, log::roll);
            log.truncate(2);
            log.append(ByteBuffer.wrap(record(payload(9, 10))));
            assertContents(List.of(payload(0, 10), payload(1, 10), payload(9, 10)), log);
        }
    }

    @Test
    void aLogOfWhichAllWasToBeCutOffIsALogThoughThatHasFailed() throws Exception {
        try (var log = open()) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 10))));
            }
            var obstacle = Files.createDirectory(directory.resolve("00000000000000000003.log"));
            assertThrows(IOException.class, log::roll);
            Files.delete(obstacle);
            // Whoever is interrupted can delete and open a file, and not write to it.
            Thread.currentThread().interrupt();
            try {
                assertThrows(ClosedByInterruptException.class, () -> log.truncate(0));
            } finally {
                assertTrue(Thread.interrupted());
            }
            assertEquals(0, log.firstOffset());
            assertEquals(0, log.nextOffset());
            assertEquals(0, log.room());
        }
        try (var log = open()) {
            assertContents(List.of(), log);
            log.append(ByteBuffer.wrap(record(payload(0, 10))));
            log.truncate(0);
            assertContents(List.of(), log);
            log.append(ByteBuffer.wrap(record(payload(3, 20))));
            assertContents(List.of(payload(3, 20)), log);
            assertEquals(CAPACITY, Files.size(log.active().path()));
        }
        try (var log = open()) {
            assertContents(List.of(payload(3, 20)), log);
        }
    }

    /** What is left is no log before the segment has gone. */
    @Test
    void aSegmentThatCannotBeDeletedIsCutOffLater() throws Exception {
        try (var log = open()) {
            for (var i = 0; i < 3; i++) {
                log.append(ByteBuffer.wrap(record(payload(i, 10))));
                log.roll();
            }
            log.append(ByteBuffer.wrap(record(payload(3, 10))));
            var path = log.active().path();
            Files.delete(path);
            var inside = Files.createFile(Files.createDirectory(path).resolve("inside"));
            for (var i = 0; i < 2; i++) {
                assertThrows(IOException.class, () -> log.truncate(1));
                assertEquals(4, log.nextOffset());
            }
            Files.delete(inside);
            log.truncate(1);
            assertContents(List.of(payload(0, 10)), log);
            log.append(ByteBuffer.wrap(record(payload(4, 10))));
            assertContents(List.of(payload(0, 10), payload(4, 10)), log);
        }
        try (var log = open()) {
            assertContents(List.of(payload(0, 10), payload(4, 10)), log);
        }
    }

    @Test
    void ofASegmentThatCouldNotBeMadeNothingIsLeft() throws Exception {
        // Whoever is interrupted can open a file, and not write to it.
        Thread.currentThread().interrupt();
        try {
            assertThrows(ClosedByInterruptException.class,
                    () -> SegmentFile.create(directory, 7, CAPACITY, Durability.PAGE_CACHE));
        } finally {
            assertTrue(Thread.interrupted());
        }
        try (var files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
        SegmentFile.create(directory, 7, CAPACITY, Durability.PAGE_CACHE).close();
    }

    @Test
    void nothingIsCutOffThatIsNotThere() throws Exception {
        try (var log = open()) {
            log.append(ByteBuffer.wrap(record(payload(1, 10))));
            for (var offset : List.of(-1L, 2L)) {
                assertTrue(assertThrows(IllegalArgumentException.class, () -> log.truncate(offset)).getMessage()
                        .contains("(expected: 0 to 1)"));
            }
            assertContents(List.of(payload(1, 10)), log);
        }
    }

    @Test
    void aFileWithAnotherNameIsRefused() throws Exception {
        Files.write(directory.resolve("notes.log"), new byte[1]);
        var refused = assertThrows(LogException.class, this::open);
        assertTrue(refused.getMessage().contains("has no name of a segment"), refused.getMessage());
    }

    @Test
    void aFaultIsToldInWords() {
        var bytes = ByteBuffer.wrap(record(payload(1, 10)));
        assertEquals(1, Records.count(bytes, 0, 18));
        assertEquals(0, Records.count(bytes, 0, 17));
        assertEquals("the record at byte 0 of 17 says that it has 18 bytes (expected: 8 to 17)",
                Records.fault(bytes, 0, 17));
        assertEquals("the record at byte 0 of 5 is cut off: a record has at least 8 bytes", Records.fault(bytes, 0, 5));
        assertEquals("there is no record", Records.fault(bytes, 0, 0));
        bytes.put(12, (byte) (bytes.get(12) + 1));
        assertEquals("the record at byte 0 of 18 does not have the CRC32C that it says", Records.fault(bytes, 0, 18));
    }

    private void deleteAll() throws IOException {
        try (var files = Files.list(directory)) {
            for (var file : files.toList()) {
                Files.delete(file);
            }
        }
    }
}
