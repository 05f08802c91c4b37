// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Of which epoch the records of one partition are: with which offset each epoch began. Only the leader of an epoch makes
 * records of it, and whoever takes records from that leader has all that are before. So two logs with the same epoch at the
 * same offset are the same up to there. For one thread.
 */
public final class EpochHistory {
    private static final String NAME = "epochs";

    /** @param start the offset of its first record */
    public record Entry(long epoch, long start) { }

    private final Path file;
    private final Durability durability;
    private List<Entry> entries;

    private EpochHistory(Path file, Durability durability, List<Entry> entries) {
        this.file = file;
        this.durability = durability;
        this.entries = entries;
    }

    /** @param directory the partition's */
    public static EpochHistory open(Path directory, Durability durability) throws IOException {
        var file = directory.resolve(NAME);
        return new EpochHistory(file, durability, Files.exists(file) ? parse(file) : List.of());
    }

    private static List<Entry> parse(Path file) throws IOException {
        var entries = new ArrayList<Entry>();
        for (var line : Files.readAllLines(file)) {
            var numbers = line.split(" ");
            try {
                entries.add(new Entry(Long.parseLong(numbers[0]), Long.parseLong(numbers[1])));
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
                throw damaged(file, line);
            }
            if (!isRising(entries)) {
                throw damaged(file, line);
            }
        }
        return List.copyOf(entries);
    }

    private static LogException damaged(Path file, String line) {
        return new LogException(file + " is damaged in the line '" + line + "' (expected: an epoch and an offset, both more "
                + "than in the line before). A process that is killed does not leave that. Restore the file.");
    }

    /** Whether epochs and offsets of a history go up. */
    public static boolean isRising(List<Entry> entries) {
        for (var i = 0; i < entries.size(); i++) {
            var entry = entries.get(i);
            if (entry.epoch <= 0 || entry.start < 0
                    || i > 0 && (entry.epoch <= entries.get(i - 1).epoch || entry.start <= entries.get(i - 1).start)) {
                return false;
            }
        }
        return true;
    }

    public List<Entry> entries() {
        return entries;
    }

    /** The latest; 0 if there is none. */
    public long lastEpoch() {
        return entries.isEmpty() ? 0 : entries.getLast().epoch;
    }

    /** An epoch begins behind the last record. Epochs before it that have no record are forgotten. */
    public void begin(long epoch, long start) throws IOException {
        var kept = new ArrayList<>(entries.stream().filter(entry -> entry.start < start).toList());
        kept.add(new Entry(epoch, start));
        adopt(kept);
    }

    /** The log goes on as the leader's, from which it does not differ. */
    public void adopt(List<Entry> leaders) throws IOException {
        if (!isRising(leaders)) {
            throw new LogException("a history of epochs does not rise: " + leaders);
        }
        if (leaders.equals(entries)) {
            return;
        }
        var text = new StringBuilder();
        leaders.forEach(entry -> text.append(entry.epoch).append(' ').append(entry.start).append('\n'));
        // The one before or this one, whenever the process is killed.
        var unfinished = file.resolveSibling(NAME + ".new");
        try (var channel = FileChannel.open(unfinished, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
            for (var bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8)); bytes.hasRemaining();) {
                channel.write(bytes);
            }
            durability.persist(channel);
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        durability.persist(file.getParent());
        entries = List.copyOf(leaders);
    }

    /**
     * Up to where two logs are the same.
     *
     * @param end the offset behind the last record of the first log
     * @param otherEnd the same of the other
     */
    public static long commonEnd(List<Entry> entries, long end, List<Entry> others, long otherEnd) throws LogException {
        var common = 0L;
        for (var i = 0; i < entries.size(); i++) {
            var entry = entries.get(i);
            for (var j = 0; j < others.size(); j++) {
                var other = others.get(j);
                if (entry.epoch != other.epoch) {
                    continue;
                }
                if (entry.start != other.start) {
                    throw new LogException("epoch " + entry.epoch + " begins with record " + entry.start + " here, and with "
                            + other.start + " at the leader. One of them is of another cluster: give this broker an empty "
                            + "directory.");
                }
                common = Math.max(common, Math.min(endOf(entries, i, end), endOf(others, j, otherEnd)));
            }
        }
        return common;
    }

    /** The offset behind the last record of an epoch; for one that has none yet, the end of the log. */
    private static long endOf(List<Entry> entries, int number, long end) {
        return number + 1 < entries.size() ? Math.min(entries.get(number + 1).start, end) : end;
    }
}
