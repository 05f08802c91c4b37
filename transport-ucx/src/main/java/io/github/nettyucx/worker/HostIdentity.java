// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * Which process of which host this is, as the 64-bit {@code client_id} that UCX carries in a connection request: the
 * host in the upper half, the process in the lower.
 * <p>
 * A server tells by it, before it accepts, whether a client shares its host (and so may use shared memory), and which
 * process it is. An address would not do: two containers of one host have different addresses.
 */
final class HostIdentity {

    /** One boot of one kernel; containers of a host share it. */
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final int HOST = hostHash();

    /** Not the process id: containers number their processes from 1 each. */
    private static final int PROCESS = new SecureRandom().nextInt();

    private HostIdentity() {
    }

    static long clientId() {
        return (long) HOST << 32 | Integer.toUnsignedLong(PROCESS);
    }

    static boolean isSameHost(long clientId) {
        return (int) (clientId >>> 32) == HOST;
    }

    /** Whether {@code address} is one of this host's own, so that a peer behind it shares the host. */
    static boolean isSameHost(InetAddress address) {
        if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
            return true;
        }
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    private static int hostHash() {
        try {
            String bootId = Files.readString(BOOT_ID).strip();
            // Never 0, which is what a client sends that sets no id.
            return bootId.hashCode() | 1;
        } catch (IOException e) {
            // Without an identity nobody looks like a neighbour, and connections go over the network's lanes.
            return new SecureRandom().nextInt() | 1;
        }
    }
}
