// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How much memory this process may lock, as RDMA adapters need it. */
public final class LockedMemory {

    /**
     * A worker of UCX's posts 34 MB of receives, and a loop has two workers (UCX 1.22). Where even a megabyte cannot be locked
     * UCX tries again for ever: it has to be known before.
     */
    static final long LEAST = 64L << 20;

    private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory\\s+(\\S+)");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s+([0-9a-f]+)");
    /** CAP_IPC_LOCK, of capabilities(7): the limit does not hold for who has it. */
    private static final int IPC_LOCK = 14;

    private LockedMemory() {
    }

    /** Why it is too little, or {@code null} if it is not, or nobody knows. */
    public static String lack() {
        return lack(Path.of("/proc/self"));
    }

    static String lack(Path process) {
        try {
            Matcher limit = LIMIT.matcher(Files.readString(process.resolve("limits")));
            if (!limit.find() || limit.group(1).equals("unlimited")) {
                return null;
            }
            long bytes = Long.parseLong(limit.group(1));
            Matcher capabilities = CAPABILITIES.matcher(Files.readString(process.resolve("status")));
            boolean isFree = capabilities.find() && (Long.parseUnsignedLong(capabilities.group(1), 16) >> IPC_LOCK & 1) != 0;
            return bytes >= LEAST || isFree ? null : "this process may lock no more than " + bytes
                    + " bytes of memory, with which UCX can hang (expected: unlimited, or at least " + LEAST
                    + "; see ulimit -l)";
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }
}
