// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * A note about files that have been compared with their digests: what the kernel said about them at that time. As long
 * as it says the same, nobody has written to them, for nobody can set the time of a file's last change ({@code ctime}). To
 * compare them again would take a JVM that has just started longer than everything else that loading UCX takes.
 *
 * <p>The note lies where only this user can write, as the files do.
 */
final class VerifiedFiles {
    /**
     * Younger files are not noted: the kernel's clock for files is coarse, and another change within one of its steps
     * would not be seen.
     */
    private static final long SETTLED_MILLIS = 2000;

    /** {@code null} if nothing is to be remembered. */
    private final Path note;
    private final Set<String> known;
    /** What was found as it is known, and what was not and is to be added. What the note says of other files is dropped. */
    private final Set<String> found = new TreeSet<>();
    private boolean changed;

    private VerifiedFiles(Path note, Set<String> known) {
        this.note = note;
        this.known = known;
    }

    /** Knows nothing, and will not be saved. */
    static VerifiedFiles none() {
        return new VerifiedFiles(null, Set.of());
    }

    /** What an earlier process has noted; nothing if it cannot be read. */
    static VerifiedFiles read(Path note) {
        try {
            return new VerifiedFiles(note, new HashSet<>(Files.readAllLines(note)));
        } catch (IOException e) {
            return new VerifiedFiles(note, Set.of());
        }
    }

    /** What a file is to be, and all that the kernel says about changes of it. */
    static String state(Path file, BundledLibrary.Entry entry) throws IOException {
        Map<String, Object> attributes =
                Files.readAttributes(file, "unix:dev,ino,size,lastModifiedTime,ctime", LinkOption.NOFOLLOW_LINKS);
        return String.join(" ", HexFormat.of().formatHex(entry.sha256()), entry.name(), attributes.get("dev").toString(),
                attributes.get("ino").toString(), attributes.get("size").toString(),
                nanos(attributes.get("lastModifiedTime")), nanos(attributes.get("ctime")));
    }

    /** Its own text would have the JDK load a dozen classes of {@code java.time}. */
    private static String nanos(Object time) {
        return Long.toString(((FileTime) time).to(TimeUnit.NANOSECONDS));
    }

    /** Whether the file is as it was when it was compared. */
    boolean contains(String state) {
        if (known.contains(state)) {
            found.add(state);
            return true;
        }
        return false;
    }

    /**
     * Adds a file that has just been compared.
     *
     * @param now in milliseconds of the system's clock
     */
    void add(String state, Path file, long now) throws IOException {
        FileTime time = (FileTime) Files.getAttribute(file, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
        if (now - time.toMillis() > SETTLED_MILLIS) {
            found.add(state);
            changed = true;
        }
    }

    /** Notes what has been added. That it cannot be noted does no harm: the next process compares again. */
    void save() {
        if (note == null || !changed) {
            return;
        }
        try {
            Path unfinished = Files.createTempFile(note.getParent(), "." + note.getFileName() + "-", ".tmp");
            try {
                Files.write(unfinished, found);
                Files.move(unfinished, note, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            Logs.of(VerifiedFiles.class).log(Level.DEBUG, "could not write " + note, e);
        }
    }
}
