// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class ProcessIdentityTest {

    @TempDir
    Path proc;

    private final AtomicLong next = new AtomicLong(1000);

    @Test
    void readsHostAndNamespaces() throws IOException {
        bootId("00010203-0405-0607-0809-0a0b0c0d0e0f");
        namespace("net", "net:[4026531840]");
        namespace("ipc", "ipc:[4026531839]");
        namespace("pid", "pid:[4026531836]");
        // FNV-1a of the bytes 0 to 15, 64 bits.
        assertEquals(new ProcessIdentity(fnv(16), 4026531840L, 4026531839L, 4026531836L, 1000), own());
    }

    @Test
    void isNobodysNeighbourInWhatCannotBeRead() throws IOException {
        namespace("ipc", "ipc:[4026531839]");
        namespace("pid", "what is that?");
        assertEquals(new ProcessIdentity(1001, 1002, 4026531839L, 1003, 1000), own());
        bootId("no id");
        assertEquals(1005, own().host());
    }

    /** It may have descriptors another time. */
    @Test
    void doesNotGuessWhatCannotBeReadNow() throws IOException {
        Files.createDirectories(proc.resolve("sys/kernel/random/boot_id"));
        assertThrows(IOException.class, this::own);
    }

    @Test
    void isTheSameInEachProcessOfThisHostButForTheProcess() throws IOException {
        ProcessIdentity one = ProcessIdentity.own(1, next::getAndIncrement);
        ProcessIdentity other = ProcessIdentity.own(2, next::getAndIncrement);
        assertEquals(one.host(), other.host());
        assertEquals(one.network(), other.network());
        assertEquals(one.ipc(), other.ipc());
        assertEquals(one.pid(), other.pid());
        assertNotEquals(one.process(), other.process());
    }

    private static long fnv(int bytes) {
        long hash = 0xcbf29ce484222325L;
        for (int b = 0; b < bytes; b++) {
            hash ^= b;
            hash *= 1099511628211L;
        }
        return hash;
    }

    private ProcessIdentity own() throws IOException {
        return ProcessIdentity.own(proc, next.getAndIncrement(), next::getAndIncrement);
    }

    private void bootId(String text) throws IOException {
        Path file = proc.resolve("sys/kernel/random/boot_id");
        Files.createDirectories(file.getParent());
        Files.writeString(file, text + "\n");
    }

    private void namespace(String name, String target) throws IOException {
        Path link = proc.resolve("self/ns").resolve(name);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(target));
    }
}
