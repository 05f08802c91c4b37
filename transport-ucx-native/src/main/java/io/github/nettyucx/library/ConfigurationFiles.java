// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;

/**
 * The files that UCX takes settings from while it is being loaded, whoever they belong to ({@code src/ucs/config/parser.c}):
 * also one in the working directory. Settings name libraries that UCX loads, and files that it writes: so whoever can write
 * them can do in this process what he likes.
 */
final class ConfigurationFiles {
    private static final String NAME = "ucx.conf";
    private static final int ROOT = 0;

    private ConfigurationFiles() {
    }

    /**
     * Not the one in {@code UCX_CONFIG_DIR}: whoever starts the process has named that directory.
     *
     * @param libucp the library that would read them
     * @throws LibraryRejected if there is one that somebody else than this user and root can have written
     */
    static void requireTrusted(Path libucp) throws LibraryRejected {
        for (Path file : read(libucp, Libc.getenv("HOME"))) {
            requireTrusted(file, Libc.geteuid());
        }
    }

    private static List<Path> read(Path libucp, String home) {
        List<Path> files = new ArrayList<>();
        // Not what user.dir says, which is for Java alone.
        files.add(Path.of("/proc/self/cwd", NAME));
        if (home != null) {
            files.add(Path.of(home, NAME));
        }
        // UCX 1.16 and before look in the first, later ones in the second.
        files.add(libucp.resolveSibling("../etc/" + NAME));
        files.add(libucp.resolveSibling("../etc/ucx/" + NAME));
        return files;
    }

    static void requireTrusted(Path file, int user) throws LibraryRejected {
        // Of a link both count: its owner can have it lead elsewhere.
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            requireOwner(file, user, LinkOption.NOFOLLOW_LINKS);
            if (Files.exists(file)) {
                requireOwner(file, user);
                requireUnwritable(file);
            }
        }
    }

    private static void requireOwner(Path file, int user, LinkOption... options) throws LibraryRejected {
        try {
            int owner = (Integer) Files.getAttribute(file, "unix:uid", options);
            if (owner != user && owner != ROOT) {
                throw distrusted(file, "belongs to another user, " + Integer.toUnsignedString(owner));
            }
        } catch (IOException e) {
            throw distrusted(file, "cannot be looked at: " + e);
        }
    }

    private static void requireUnwritable(Path file) throws LibraryRejected {
        try {
            if (Files.readAttributes(file, PosixFileAttributes.class).permissions()
                    .contains(PosixFilePermission.OTHERS_WRITE)) {
                throw distrusted(file, "can be written to by everybody");
            }
        } catch (IOException e) {
            throw distrusted(file, "cannot be looked at: " + e);
        }
    }

    private static LibraryRejected distrusted(Path file, String why) {
        return new LibraryRejected("would take settings from " + realPath(file) + ", which " + why
                + "; they can have it load any library: remove the file, or start the JVM with another working directory or"
                + " HOME");
    }

    private static Path realPath(Path file) {
        try {
            return file.getParent().toRealPath().resolve(NAME);
        } catch (IOException e) {
            return file;
        }
    }
}
