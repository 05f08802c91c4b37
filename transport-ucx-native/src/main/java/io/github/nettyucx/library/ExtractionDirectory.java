// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * The directory that bundled libraries are loaded from: one per user and contents, shared by all of that user's JVMs, so
 * that no number of starts and kills fills the disk.
 *
 * <p>A file that has changed since it was last compared with its digest is compared again before it is used, and replaced
 * by an atomic rename when it is missing or differs. Processes that do this at once write the same bytes, so whichever wins,
 * each of them opens a good file, and one that has the old file mapped keeps it. Nothing in a directory that another user
 * could have prepared or could change is used: then the libraries go into a fresh directory of this process's own, deleted at
 * exit.
 */
record ExtractionDirectory(int user) {
    private static final Set<PosixFilePermission> FORBIDDEN = PosixFilePermissions.fromString("----w--w-");
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /**
     * Extracts the bundle, as far as that hasn't been done.
     *
     * @param base directory to create the user's directory in; created if it is missing
     * @return the directory that holds the files
     */
    static Path extract(BundledLibrary bundle, Path base) throws LibraryRejected {
        ExtractionDirectory extraction = new ExtractionDirectory(Libc.geteuid());
        try {
            Files.createDirectories(base);
            try {
                Path shared = extraction.own(base.resolve("netty-ucx-" + Integer.toUnsignedString(extraction.user)));
                Path directory = extraction.own(shared.resolve(bundle.directoryName()));
                extraction.complete(directory, bundle, VerifiedFiles.read(
                        shared.resolve(bundle.directoryName() + ".verified")));
                return directory;
            } catch (IOException unusable) {
                return extraction.extractForThisProcess(bundle, base, unusable);
            }
        } catch (IOException e) {
            throw new LibraryRejected("cannot be extracted below " + base + " (" + e + "); set -D"
                    + UcxLibrary.WORKDIR_PROPERTY + " to a directory that this user may write to", e);
        }
    }

    private Path extractForThisProcess(BundledLibrary bundle, Path base, IOException unusable)
            throws IOException, LibraryRejected {
        Path own = Files.createTempDirectory(base, "netty-ucx-", PRIVATE_DIRECTORY);
        Thread cleanup = new Thread(null, () -> delete(own), "netty-ucx-cleanup", 0, false);
        // Nothing of the application's, which may go before the JVM does.
        cleanup.setContextClassLoader(null);
        Path directory;
        try {
            // Before there is something in it: the JVM may end at any time.
            Runtime.getRuntime().addShutdownHook(cleanup);
            // One level below: UCX takes settings from the directory above, which is to be this user's as well.
            directory = own(own.resolve(bundle.directoryName()));
            complete(directory, bundle, VerifiedFiles.none());
        } catch (Throwable t) {
            // It may be tried again, and needs the room.
            delete(own);
            forget(cleanup);
            throw t;
        }
        Logs.of(ExtractionDirectory.class).log(Level.WARNING,
                "UCX is extracted to " + own + " for this process alone: " + unusable);
        return directory;
    }

    private static void forget(Thread cleanup) {
        try {
            Runtime.getRuntime().removeShutdownHook(cleanup);
        } catch (IllegalStateException e) {
            Logs.of(ExtractionDirectory.class).log(Level.DEBUG, "the JVM is ending already", e);
        }
    }

    private void complete(Path directory, BundledLibrary bundle, VerifiedFiles verified)
            throws IOException, LibraryRejected {
        for (BundledLibrary.Entry entry : bundle.entries()) {
            Path file = directory;
            List<String> steps = List.of(entry.name().split("/"));
            for (String step : steps.subList(0, steps.size() - 1)) {
                file = own(file.resolve(step));
            }
            file = file.resolve(steps.getLast());
            if (!isIntact(file, entry, verified)) {
                write(file, entry);
            }
        }
        verified.save();
    }

    private boolean isIntact(Path file, BundledLibrary.Entry entry, VerifiedFiles verified) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || complaint(file) != null) {
            return false;
        }
        String state = VerifiedFiles.state(file, entry);
        if (verified.contains(state)) {
            return true;
        }
        try (InputStream in = Files.newInputStream(file)) {
            if (!Arrays.equals(Sha256.digest(in), entry.sha256())) {
                return false;
            }
        }
        verified.add(state, file, System.currentTimeMillis());
        return true;
    }

    private static void write(Path file, BundledLibrary.Entry entry) throws IOException, LibraryRejected {
        byte[] contents = entry.read();
        if (!Arrays.equals(Sha256.digest(contents), entry.sha256())) {
            throw new LibraryRejected("is damaged: the digest of " + entry.source() + " is not the one in the index");
        }
        Path unfinished = Files.createTempFile(file.getParent(), "." + file.getFileName() + "-", ".tmp", PRIVATE_FILE);
        try {
            Files.write(unfinished, contents);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    /** Creates a directory, or accepts one that exists if it is this user's and nobody else can write to it. */
    private Path own(Path directory) throws IOException {
        try {
            Files.createDirectory(directory, PRIVATE_DIRECTORY);
        } catch (FileAlreadyExistsException e) {
            // As it should be from the second start on.
        }
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(directory + " is not a directory");
        }
        String complaint = complaint(directory);
        if (complaint != null) {
            throw new IOException(directory + complaint);
        }
        return directory;
    }

    private String complaint(Path path) throws IOException {
        if (!Integer.valueOf(user).equals(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
            return " belongs to another user";
        }
        Set<PosixFilePermission> permissions =
                Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS).permissions();
        return Collections.disjoint(permissions, FORBIDDEN) ? null : " can be written to by other users";
    }

    /** As much as there is and can be deleted; others may do the same. */
    static void delete(Path directory) {
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    return delete(file);
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException cause) {
                    return delete(file);
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, IOException cause) {
                    return delete(visited);
                }

                private FileVisitResult delete(Path path) {
                    try {
                        Files.deleteIfExists(path);
                    } catch (IOException e) {
                        left(path, e);
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            left(directory, e);
        }
    }

    private static void left(Path path, IOException cause) {
        Logs.of(ExtractionDirectory.class).log(Level.DEBUG, "could not delete " + path, cause);
    }
}
