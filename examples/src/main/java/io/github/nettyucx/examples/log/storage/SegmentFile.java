// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/**
 * A file of records, one behind the other. Its name is the offset of the first. As long as it is written it has the full
 * length of a segment, with zeros at the end; when it is sealed it is cut to what there is. For one thread.
 */
public final class SegmentFile implements AutoCloseable {
    static final String SUFFIX = ".log";
    /** Of what is left of a file that is being cut, until it takes its place. A process that is killed may leave it. */
    static final String CUT = "cut";

    /** What can be done with it. */
    public enum State { ACTIVE, SEALED, CLOSED }

    private final Path path;
    private final long baseOffset;
    private final int capacity;
    private final SparseIndex index = new SparseIndex();
    /** To look for a record; {@code null} until one was looked for. */
    private ByteBuffer headers;
    private FileChannel channel;
    private State state;
    private int size;
    private int count;

    private SegmentFile(Path path, FileChannel channel, long baseOffset, int capacity, State state) {
        this.path = path;
        this.channel = channel;
        this.baseOffset = baseOffset;
        this.capacity = capacity;
        this.state = state;
    }

    private static Path path(Path directory, long baseOffset) {
        return directory.resolve(String.format(Locale.ROOT, "%020d", baseOffset) + SUFFIX);
    }

    /** Gives a file of zeros, which has the full length, its name. */
    static SegmentFile adopt(FileChannel channel, Path file, long baseOffset, int capacity, Durability durability)
            throws IOException {
        var path = path(file.getParent(), baseOffset);
        var moved = false;
        try {
            // Nothing is replaced: of an earlier end of the log there may be a file that has nothing to do with this one.
            if (Files.exists(path)) {
                throw new FileAlreadyExistsException(path.toString());
            }
            Files.move(file, path, StandardCopyOption.ATOMIC_MOVE);
            moved = true;
            durability.persist(file.getParent());
        } catch (IOException e) {
            try (channel) {
                if (moved) {
                    // Nothing is in its place when it is tried again.
                    Files.deleteIfExists(path);
                }
            } catch (IOException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        return new SegmentFile(path, channel, baseOffset, capacity, State.ACTIVE);
    }

    /** @param capacity in bytes, the most that its records can have */
    static SegmentFile create(Path directory, long baseOffset, int capacity, Durability durability) throws IOException {
        var path = path(directory, baseOffset);
        var channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            // The length is there from the start, so that an append does not change it.
            channel.write(ByteBuffer.allocate(1), capacity - 1L);
            durability.persist(channel);
            durability.persist(directory);
        } catch (IOException e) {
            // Nothing is in its place when it is tried again.
            try (channel) {
                Files.deleteIfExists(path);
            } catch (IOException also) {
                e.addSuppressed(also);
            }
            throw e;
        }
        return new SegmentFile(path, channel, baseOffset, capacity, State.ACTIVE);
    }

    /**
     * Reads a file that another process has left, up to the first record that is not whole or not what its CRC says. The
     * file itself stays as it is; {@link #seal} cuts it.
     */
    static SegmentFile scan(Path path) throws IOException {
        var baseOffset = baseOffset(path);
        var channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            return scan(path, channel, baseOffset);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static SegmentFile scan(Path path, FileChannel channel, long baseOffset) throws IOException {
        var length = channel.size();
        if (length > Integer.MAX_VALUE) {
            throw new LogException(path + " has " + length + " bytes (expected: at most " + Integer.MAX_VALUE
                    + "). It is not a segment of this log; move it away.");
        }
        var segment = new SegmentFile(path, channel, baseOffset, (int) length, State.ACTIVE);
        if (length > 0) {
            try (var arena = Arena.ofConfined()) {
                var bytes = channel.map(MapMode.READ_ONLY, 0, length, arena).asByteBuffer();
                for (int record; (record = Records.check(bytes, segment.size, (int) length)) > 0;) {
                    segment.add(record);
                }
            }
        }
        return segment;
    }

    private static long baseOffset(Path path) throws LogException {
        var name = path.getFileName().toString();
        try {
            return Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
        } catch (NumberFormatException e) {
            throw new LogException(path + " has no name of a segment (expected: 20 digits and " + SUFFIX
                    + "). It is none of this log; move it away.");
        }
    }

    private void add(int record) {
        index.add(count++, size);
        size += record;
    }

    /**
     * Writes whole records behind those that there are, and returns when the operating system has them.
     *
     * @param records that have been checked; all that remains in the buffer
     * @param durability what else has to have happened
     */
    void append(ByteBuffer records, Durability durability) throws IOException {
        require(State.ACTIVE);
        var from = records.position();
        var to = records.limit();
        if (to - from > capacity - size) {
            throw new IllegalArgumentException("records: " + (to - from) + " bytes (expected: at most " + (capacity - size)
                    + ", which are left of the segment)");
        }
        for (var at = (long) size; records.hasRemaining();) {
            at += channel.write(records, at);
        }
        if (durability == Durability.DISK) {
            channel.force(false);
        }
        while (from < to) {
            var record = Records.length(records, from);
            add(record);
            from += record;
        }
    }

    /** Nothing is appended any more; the file is cut behind the last record. */
    void seal(Durability durability) throws IOException {
        require(State.ACTIVE);
        channel.truncate(size);
        // Before another one follows it.
        durability.persist(channel);
        state = State.SEALED;
    }

    /**
     * Cuts off the records from an offset on. The file has to be sealed. What is left is another file, which takes its place:
     * whoever has the file mapped keeps it as it was, where a read behind the end of one that is cut ends the process.
     */
    void cut(long offset, Durability durability) throws IOException {
        require(State.SEALED);
        var end = position(offset);
        var directory = path.getParent();
        var shorter = directory.resolve(CUT);
        var left = FileChannel.open(shorter, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            for (var at = 0L; at < end;) {
                var copied = channel.transferTo(at, end - at, left);
                if (copied == 0) {
                    throw endsEarly(at);
                }
                at += copied;
            }
            durability.persist(left);
            Files.move(shorter, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            try (left) {
                Files.deleteIfExists(shorter);
            } catch (IOException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        try (var whole = channel) {
            channel = left;
            size = end;
            count = (int) (offset - baseOffset);
            index.cut(count);
            durability.persist(directory);
        }
    }

    /**
     * Of a sealed file that has no records: the same file with the full length again. This object is of no use any more, unless
     * that fails.
     *
     * @param length in bytes, the most that its records can have
     */
    SegmentFile again(int length, Durability durability) throws IOException {
        require(State.SEALED);
        if (size != 0) {
            throw new IllegalStateException(path + " has " + size + " bytes (expected: none)");
        }
        channel.write(ByteBuffer.allocate(1), length - 1L);
        durability.persist(channel);
        return new SegmentFile(path, channel, baseOffset, length, State.ACTIVE);
    }

    private void require(State expected) {
        if (state != expected) {
            throw new IllegalStateException(path + " is " + state + " (expected: " + expected + ")");
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    /**
     * Where the record with that offset begins; for the next offset, where it will begin.
     *
     * @param offset from the base offset to the next
     */
    public int position(long offset) throws IOException {
        if (offset < baseOffset || offset > nextOffset()) {
            throw new IllegalArgumentException("offset: " + offset + " (expected: " + baseOffset + " to " + nextOffset()
                    + ")");
        }
        var wanted = (int) (offset - baseOffset);
        if (wanted == count) {
            return size;
        }
        var number = index.numberBefore(wanted);
        var position = index.positionBefore(wanted);
        if (number < wanted) {
            // All headers in between at once.
            var from = position;
            var headers = headers().limit(Math.min(SparseIndex.INTERVAL + Records.HEADER, size - from));
            read(headers, from);
            for (; number < wanted; number++) {
                position += Records.length(headers, position - from);
            }
        }
        return position;
    }

    private ByteBuffer headers() {
        if (headers == null) {
            headers = ByteBuffer.allocateDirect(SparseIndex.INTERVAL + Records.HEADER);
        }
        return headers.clear();
    }

    /**
     * Fills a buffer.
     *
     * @param position of the first byte; there have to be as many as the buffer has room for
     */
    public void read(ByteBuffer target, int position) throws IOException {
        for (var at = (long) position; target.hasRemaining();) {
            var read = channel.read(target, at);
            if (read < 0) {
                throw endsEarly(at);
            }
            at += read;
        }
    }

    private LogException endsEarly(long at) {
        return new LogException(path + " ends at byte " + at + ", though " + size + " bytes have been written. "
                + "Something else has cut it.");
    }

    /** The whole of a sealed file, for as long as somebody has it. */
    public MappedByteBuffer map() throws IOException {
        require(State.SEALED);
        return channel.map(MapMode.READ_ONLY, 0, size);
    }

    public Path path() {
        return path;
    }

    public long baseOffset() {
        return baseOffset;
    }

    /** Of the record behind the last. */
    public long nextOffset() {
        return baseOffset + count;
    }

    /** Of the records, in bytes. */
    public int size() {
        return size;
    }

    public int capacity() {
        return capacity;
    }

    public State state() {
        return state;
    }

    /** When this has failed it can be tried again, and what is there can be read. */
    void delete() throws IOException {
        Files.deleteIfExists(path);
        close();
    }

    @Override
    public void close() throws IOException {
        state = State.CLOSED;
        channel.close();
    }
}
