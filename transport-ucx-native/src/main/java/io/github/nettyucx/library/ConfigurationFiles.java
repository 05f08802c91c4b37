// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The files that UCX takes settings from while it is being loaded, whoever they belong to ({@code src/ucs/config/parser.c}):
 * also one in the working directory. Settings name libraries that UCX loads, and files that it writes: so whoever can write
 * them can do in this process what he likes.
 */
final class ConfigurationFiles {
    private static final String NAME = "ucx.conf";
    private static final int ROOT = 0;
    /** What has been warned of: the search looks for each library, and perhaps again later. */
    private static final Set<Path> TOLD = ConcurrentHashMap.newKeySet();

    private ConfigurationFiles() {
    }

    /**
     * Not the one in {@code UCX_CONFIG_DIR}: whoever starts the process has named that directory.
     *
     * @param libucp the library that would read them
     * @throws LibraryRejected if there is one that somebody else than this user and root can have written
     */
    static void requireTrusted(Path libucp) throws LibraryRejected {
        int user = Libc.geteuid();
        for (Path file : ofProcess(Libc.getenv("HOME"))) {
            requireTrusted(file, user, user, "start the JVM with another working directory or HOME");
        }
        // UCX 1.16 and before look in the first, later ones in the second. Whoever the library is of can do what he likes anyway.
        for (String file : new String[] {"../etc/" + NAME, "../etc/ucx/" + NAME}) {
            requireTrusted(libucp.resolveSibling(file), user, owner(libucp, user), "use another library");
        }
    }

    private static List<Path> ofProcess(String home) {
        List<Path> files = new ArrayList<>();
        // Not what user.dir says, which is for Java alone, unless there is no /proc.
        Path working = Path.of("/proc/self/cwd");
        files.add((Files.exists(working) ? working : Path.of("").toAbsolutePath()).resolve(NAME));
        if (home != null) {
            try {
                files.add(Path.of(home, NAME));
            } catch (InvalidPathException e) {
                // In a locale that has not its characters Java cannot look at it.
                Logs.of(ConfigurationFiles.class).log(Level.DEBUG, "HOME is not looked at", e);
            }
        }
        return files;
    }

    private static int owner(Path libucp, int user) {
        try {
            return (Integer) Files.getAttribute(libucp, "unix:uid");
        } catch (IOException e) {
            Logs.of(ConfigurationFiles.class).log(Level.DEBUG, "could not look at " + libucp, e);
            return user;
        }
    }

    private static void requireTrusted(Path file, int user, int other, String advice) throws LibraryRejected {
        // Of a link both count: its owner can have it lead elsewhere.
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            requireOwner(file, user, other, advice, LinkOption.NOFOLLOW_LINKS);
            if (Files.exists(file)) {
                requireOwner(file, user, other, advice);
                requireUnwritable(file, advice);
            }
        }
    }

    private static void requireOwner(Path file, int user, int other, String advice, LinkOption... options)
            throws LibraryRejected {
        try {
            int owner = (Integer) Files.getAttribute(file, "unix:uid", options);
            if (owner != user && owner != other && owner != ROOT) {
                throw distrusted(file, "belongs to another user, " + Integer.toUnsignedString(owner), advice);
            }
        } catch (IOException e) {
            throw distrusted(file, "cannot be looked at: " + e, advice);
        }
    }

    private static void requireUnwritable(Path file, String advice) throws LibraryRejected {
        try {
            if (Files.readAttributes(file, PosixFileAttributes.class).permissions()
                    .contains(PosixFilePermission.OTHERS_WRITE)) {
                throw distrusted(file, "can be written to by everybody", advice);
            }
        } catch (IOException e) {
            throw distrusted(file, "cannot be looked at: " + e, advice);
        }
    }

    private static LibraryRejected distrusted(Path file, String why, String advice) {
        LibraryRejected distrusted = new LibraryRejected("would take settings from " + realPath(file) + ", which " + why
                + "; they can have it load any library: remove the file, or " + advice);
        if (TOLD.add(file)) {
            // Also where another library is found then, which may have no RDMA.
            Logs.of(ConfigurationFiles.class).log(Level.WARNING, "UCX is not loaded: it " + distrusted.getMessage());
        }
        return distrusted;
    }

    private static Path realPath(Path file) {
        try {
            return file.getParent().toRealPath().resolve(NAME);
        } catch (IOException e) {
            return file;
        }
    }
}
