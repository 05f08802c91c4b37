// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The room for shared memory in namespaces that this process has for itself. */
final class SharedMemoryRoom {

    private static final Path LIMIT = Path.of("/proc/sys/kernel/shmall");
    /** In pages. */
    private static final String PLENTY = "1073741824";
    private static final Path FILLING = Path.of("/dev/shm/filling");

    private final boolean posix;

    /** @param transport UCX's: {@code posix} or {@code sysv} */
    SharedMemoryRoom(String transport) {
        posix = transport.equals("posix");
    }

    /** From now on there is none. */
    void fill() throws IOException {
        if (!posix) {
            Files.writeString(LIMIT, "1");
            return;
        }
        try (OutputStream file = Files.newOutputStream(FILLING)) {
            for (;;) {
                file.write(new byte[4096]);
            }
        } catch (IOException e) {
            // No space left.
            System.out.println("filled: " + e.getMessage());
        }
    }

    void empty() throws IOException {
        if (posix) {
            Files.delete(FILLING);
        } else {
            Files.writeString(LIMIT, PLENTY);
        }
    }
}
