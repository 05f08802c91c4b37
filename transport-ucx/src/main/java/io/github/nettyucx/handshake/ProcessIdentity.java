// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Which process it is, and what it shares with others: processes with the same numbers are neighbours and can meet in
 * shared memory. The numbers are claims of the sender; that they are true shows when the link is made.
 *
 * @param host of the running kernel
 * @param network of the network namespace
 * @param ipc of the IPC namespace
 * @param pid of the PID namespace
 * @param process random, of the process
 */
public record ProcessIdentity(long host, long network, long ipc, long pid, long process) {

    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    /**
     * The identity of this process.
     *
     * @param process drawn once in the life of the process
     * @param random  in place of what is not to be read: then nobody is a neighbour in that
     * @throws IOException if something cannot be read now, such as for want of descriptors, and may be another time
     */
    public static ProcessIdentity own(long process, LongSupplier random) throws IOException {
        return own(Path.of("/proc"), process, random);
    }

    static ProcessIdentity own(Path proc, long process, LongSupplier random) throws IOException {
        Path namespaces = proc.resolve("self/ns");
        return new ProcessIdentity(host(proc.resolve("sys/kernel/random/boot_id"), random),
                namespace(namespaces.resolve("net"), random), namespace(namespaces.resolve("ipc"), random),
                namespace(namespaces.resolve("pid"), random), process);
    }

    /** Of a process that is nobody's neighbour. */
    public static ProcessIdentity apart(long process, LongSupplier random) {
        return new ProcessIdentity(random.getAsLong(), random.getAsLong(), random.getAsLong(), random.getAsLong(), process);
    }

    /** FNV-1a over the sixteen bytes of the id that the kernel draws when it starts. */
    private static long host(Path bootId, LongSupplier random) throws IOException {
        try {
            UUID id = UUID.fromString(Files.readString(bootId).strip());
            return hash(hash(FNV_OFFSET, id.getMostSignificantBits()), id.getLeastSignificantBits());
        } catch (NoSuchFileException | AccessDeniedException | IllegalArgumentException | SecurityException e) {
            return random.getAsLong();
        }
    }

    private static long hash(long hash, long bytes) {
        long next = hash;
        for (int shift = 56; shift >= 0; shift -= 8) {
            next = (next ^ bytes >>> shift & 0xff) * FNV_PRIME;
        }
        return next;
    }

    /*
     * Written out, because the first connection asks for them: those that a record has by itself the JVM makes at the first
     * call, of a dozen classes, which takes a process that has just started some milliseconds.
     */

    @Override
    public boolean equals(Object other) {
        return other instanceof ProcessIdentity identity && process == identity.process && pid == identity.pid
                && ipc == identity.ipc && network == identity.network && host == identity.host;
    }

    @Override
    public int hashCode() {
        // It is random, and of one process.
        return Long.hashCode(process);
    }

    /** The link says {@code net:[4026531840]}; the number is the namespace's inode. */
    private static long namespace(Path link, LongSupplier random) {
        try {
            String text = Files.readSymbolicLink(link).toString();
            return Long.parseUnsignedLong(text.substring(text.indexOf('[') + 1, text.length() - 1));
        } catch (IOException | RuntimeException e) {
            return random.getAsLong();
        }
    }
}
