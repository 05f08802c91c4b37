// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What can be told about a {@code libucp.so} by reading the file, before any of its code runs.
 *
 * <p>The version has to be known before {@code dlopen}: a UCX that has hooked libc's memory functions, which it does while
 * it is being loaded, cannot be closed again, and the next one would be bound to the first one's {@code libucs.so.0}. So a
 * library that is too old must never be opened when a newer one is to be tried after it.
 * {@code ucp_get_version_string()} returns a string literal, which stands in the file once; other texts of that form in
 * it are the ends of symbol versions such as {@code GLIBC_2.2.5}.
 *
 * @param version if the file gives it away
 */
record LibraryFile(Path path, Optional<UcxVersion> version) {
    private static final int ELF_MAGIC = 0x7f454c46;
    private static final int HEADER_SIZE = 64;
    private static final int PROGRAM_HEADER_SIZE = 56;
    private static final int PT_LOAD = 1;
    private static final int ET_DYN = 3;
    private static final long MAX_SEGMENT = 256L << 20;

    private static final Pattern VERSION_LITERAL =
            Pattern.compile("(?<![\\d._-])(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3})\\x00");

    private static final int MAX_DIGITS = 3;
    /** With its end and what may not be before it. */
    private static final int LONGEST_VERSION = 16;

    /**
     * Reads a file, also if the calling thread has been interrupted, which would close a channel.
     *
     * @throws LibraryRejected when it can't be read, or isn't a shared library for this platform
     */
    static LibraryFile read(Path path, Platform platform) throws LibraryRejected {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
            ByteBuffer header = readFully(file, 0, HEADER_SIZE);
            if (header == null || header.order(ByteOrder.BIG_ENDIAN).getInt(0) != ELF_MAGIC) {
                throw new LibraryRejected("is not a shared library (no ELF header)");
            }
            boolean is64Bit = header.get(4) == 2;
            boolean isLittleEndian = header.get(5) == 1;
            header.order(ByteOrder.LITTLE_ENDIAN);
            int machine = Short.toUnsignedInt(header.getShort(18));
            if (!is64Bit || !isLittleEndian || machine != platform.elfMachine()) {
                throw new LibraryRejected("is built for another machine (" + Platform.describeElf(is64Bit, machine)
                        + "), this JVM runs on " + platform);
            }
            if (header.getShort(16) != ET_DYN) {
                throw new LibraryRejected("is not a shared library (an ELF file of another type)");
            }
            return new LibraryFile(path, Optional.ofNullable(findVersion(file, header)));
        } catch (IOException e) {
            boolean missing = Files.notExists(path);
            throw new LibraryRejected(missing ? "does not exist" : "cannot be read: " + e, e, !missing);
        }
    }

    private static UcxVersion findVersion(RandomAccessFile file, ByteBuffer header) throws IOException, LibraryRejected {
        long tableOffset = header.getLong(0x20);
        int entries = Short.toUnsignedInt(header.getShort(0x38));
        ByteBuffer table = readFully(file, tableOffset, entries * PROGRAM_HEADER_SIZE);
        if (table == null) {
            throw new LibraryRejected("is cut short or damaged");
        }
        TreeSet<UcxVersion> found = new TreeSet<>();
        for (int i = 0; i < entries; i++) {
            int entry = i * PROGRAM_HEADER_SIZE;
            if (table.getInt(entry) != PT_LOAD) {
                continue;
            }
            long size = table.getLong(entry + 0x20);
            ByteBuffer segment = size > MAX_SEGMENT ? null : readFully(file, table.getLong(entry + 0x08), size);
            if (segment == null) {
                throw new LibraryRejected("is cut short or damaged");
            }
            addVersions(segment.array(), found);
        }
        return found.size() == 1 ? found.first() : null;
    }

    /** The pattern is applied to the neighbourhood of dots behind digits only: megabytes take it a tenth of a second. */
    private static void addVersions(byte[] bytes, TreeSet<UcxVersion> found) {
        for (int dot = 1; dot < bytes.length; dot++) {
            if (bytes[dot] == '.' && Character.isDigit(bytes[dot - 1])) {
                int begin = Math.max(0, dot - LONGEST_VERSION);
                // One char per byte, so that the pattern can be applied to binary data.
                Matcher matcher = VERSION_LITERAL.matcher(new String(bytes, begin,
                        Math.min(bytes.length, dot + LONGEST_VERSION) - begin, StandardCharsets.ISO_8859_1));
                // What begins elsewhere may have been cut, and is another dot's.
                if (matcher.find(Math.max(0, dot - begin - MAX_DIGITS)) && begin + matcher.start() < dot) {
                    UcxVersion.parse(matcher.group(1)).ifPresent(found::add);
                }
            }
        }
    }

    private static ByteBuffer readFully(RandomAccessFile file, long offset, long size) throws IOException {
        if (offset < 0 || size < 0 || offset > file.length() || size > file.length() - offset) {
            return null;
        }
        byte[] bytes = new byte[(int) size];
        file.seek(offset);
        file.readFully(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
