// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The segments of a partition, in a directory of their own. Records are appended to the last of them. For one thread, and
 * one process at a time.
 */
public final class PartitionLog implements AutoCloseable {
    /** When such a part of a segment has been written the next one is made. */
    private static final int EARLY = 8;

    private final Path directory;
    private final int capacity;
    private final Durability durability;
    private final List<SegmentFile> segments = new ArrayList<>();
    private final NextSegment next;

    private PartitionLog(Path directory, int capacity, Durability durability) {
        this.directory = directory;
        this.capacity = capacity;
        this.durability = durability;
        next = new NextSegment(directory, capacity, durability);
    }

    /**
     * Opens what another process has left, whichever way it ended, or begins anew. The last segment is cut at the first
     * record that is damaged: it was under way, and nobody has been told that it is there.
     *
     * @param capacity of a segment, in bytes
     * @throws LogException if an earlier segment is damaged, which no end of a process does
     */
    public static PartitionLog open(Path directory, int capacity, Durability durability) throws IOException {
        Files.createDirectories(directory);
        var log = new PartitionLog(directory, capacity, durability);
        try {
            log.recover();
        } catch (IOException | RuntimeException e) {
            log.close();
            throw e;
        }
        return log;
    }

    private void recover() throws IOException {
        Files.deleteIfExists(next.file());
        Files.deleteIfExists(directory.resolve(SegmentFile.CUT));
        List<Path> paths;
        try (var files = Files.list(directory)) {
            paths = files.filter(path -> path.getFileName().toString().endsWith(SegmentFile.SUFFIX)).sorted().toList();
        }
        for (var path : paths) {
            if (!segments.isEmpty()) {
                requireWhole(segments.getLast(), path);
            }
            segments.add(SegmentFile.scan(path));
        }
        var nextOffset = 0L;
        if (!segments.isEmpty()) {
            var last = segments.getLast();
            nextOffset = last.nextOffset();
            if (last.size() == 0) {
                segments.removeLast().delete();
            }
        }
        for (var segment : segments) {
            segment.seal(durability);
        }
        // A segment of its own for each process: what was cut off is never mixed with what is new.
        segments.add(SegmentFile.create(directory, nextOffset, capacity, durability));
    }

    /** A segment that has another behind it was sealed before that began: it has records to its end. */
    private static void requireWhole(SegmentFile segment, Path next) throws IOException {
        var name = String.format(Locale.ROOT, "%020d%s", segment.nextOffset(), SegmentFile.SUFFIX);
        var whole = segment.size() == segment.capacity();
        if (!whole || !next.getFileName().toString().equals(name)) {
            throw new LogException(segment.path() + " is damaged at byte " + segment.size() + " of " + segment.capacity()
                    + ", behind record " + (segment.nextOffset() - 1) + ", and " + next.getFileName() + " follows it "
                    + "(expected: whole records to its end, then " + name + "). A process that is killed does not leave "
                    + "that. Restore the file, or move it and all that follow away to lose what they hold.");
        }
    }

    /** What records are appended to. */
    public SegmentFile active() {
        return segments.getLast();
    }

    /**
     * Appends to the active segment, which has to have the room.
     *
     * @param records whole, and checked
     */
    public void append(ByteBuffer records) throws IOException {
        active().append(records, durability);
        if (active().size() > active().capacity() / EARLY) {
            next.prepare();
        }
    }

    /** How many bytes the active segment has room for: none, if it is sealed, and no other one could be made. */
    public int room() {
        return active().state() == SegmentFile.State.ACTIVE ? active().capacity() - active().size() : 0;
    }

    private void seal() throws IOException {
        // It may be sealed since an attempt to make another one.
        if (active().state() == SegmentFile.State.ACTIVE) {
            active().seal(durability);
        }
    }

    /**
     * Seals the active segment, and begins a new one. A segment without records stays as it is. When this has failed it can be
     * tried again; nothing can be appended before.
     */
    public SegmentFile roll() throws IOException {
        if (active().size() == 0) {
            if (active().state() != SegmentFile.State.ACTIVE) {
                segments.set(segments.size() - 1, active().again(capacity, durability));
            }
            return active();
        }
        seal();
        var made = next.take();
        segments.add(made == null ? SegmentFile.create(directory, active().nextOffset(), capacity, durability)
                : SegmentFile.adopt(made, next.file(), active().nextOffset(), capacity, durability));
        return active();
    }

    /**
     * Cuts off all records from an offset on; it may be that of any record, or the next one. From the end on, so that what is
     * there is a log whenever the process is killed meanwhile. When this has failed it can be tried again; until then there may be
     * more records than that, and nothing can be appended before there is {@linkplain #roll another segment}.
     */
    public void truncate(long offset) throws IOException {
        if (offset < firstOffset() || offset > nextOffset()) {
            throw new IllegalArgumentException("offset: " + offset + " (expected: " + firstOffset() + " to " + nextOffset()
                    + ")");
        }
        if (offset == nextOffset()) {
            return;
        }
        seal();
        // The first stays in any case, be it empty: without a segment there is no log.
        while (segments.size() > 1 && segments.getLast().baseOffset() >= offset) {
            segments.getLast().delete();
            segments.removeLast();
        }
        segments.getLast().cut(offset, durability);
        roll();
    }

    /** Of the first record that there is. */
    public long firstOffset() {
        return segments.getFirst().baseOffset();
    }

    /** Of the record that will be appended next. */
    public long nextOffset() {
        return active().nextOffset();
    }

    /**
     * The segment with a record, or the active one for the next offset.
     *
     * @throws LogException if there is none, nor will be next
     */
    public SegmentFile find(long offset) throws LogException {
        if (offset < firstOffset() || offset > nextOffset()) {
            throw new LogException("there is no record " + offset + ": the partition has " + firstOffset() + " to "
                    + (nextOffset() - 1) + ", and will have " + nextOffset() + " next");
        }
        var low = 0;
        var high = segments.size() - 1;
        while (low < high) {
            var middle = (low + high + 1) / 2;
            if (segments.get(middle).baseOffset() <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return segments.get(low);
    }

    public List<SegmentFile> segments() {
        return List.copyOf(segments);
    }

    @Override
    public void close() throws IOException {
        IOException failure = null;
        next.close();
        for (var segment : segments) {
            try {
                segment.close();
            } catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
