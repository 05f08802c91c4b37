// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory that does not live long, with all that is in it. */
public final class FileTree {
    private FileTree() {
    }

    /**
     * Deletes as much as there is and can be deleted. What others delete meanwhile is not missed; a process that was killed
     * and has not gone yet may still do that, or write.
     *
     * @throws IOException saying why, if something is left
     */
    public static void delete(Path root) throws IOException {
        var deletion = new Deletion();
        Files.walkFileTree(root, deletion);
        if (deletion.failure != null && Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
            throw deletion.failure;
        }
    }

    private static final class Deletion extends SimpleFileVisitor<Path> {
        /** The first; {@code null} if there is none. */
        private IOException failure;

        private FileVisitResult delete(Path path) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                failed(e);
            }
            return FileVisitResult.CONTINUE;
        }

        private void failed(IOException cause) {
            if (failure == null && !(cause instanceof NoSuchFileException)) {
                failure = cause;
            }
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            return delete(file);
        }

        /** It has gone, say, or is a directory that cannot be read. */
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException cause) {
            failed(cause);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, IOException cause) {
            if (cause != null) {
                failed(cause);
            }
            return delete(directory);
        }
    }
}
