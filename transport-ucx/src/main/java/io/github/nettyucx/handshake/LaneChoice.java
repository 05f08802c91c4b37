// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which lane is taken: the first of the server's that nothing speaks against. The client looks at the same things
 * before it goes along.
 *
 * @param lane    or null if there is none
 * @param reasons why each lane before it was not taken
 */
record LaneChoice(LaneKind lane, List<String> reasons) {

    /** Chooses for the server. */
    static LaneChoice of(Terms own, Hello client) {
        List<String> reasons = new ArrayList<>();
        for (LaneKind kind : own.lanes().kinds()) {
            String obstacle = obstacle(kind, own, client, Side.CLIENT);
            if (obstacle == null) {
                return new LaneChoice(kind, reasons);
            }
            reasons.add(kind + ": " + obstacle);
        }
        return new LaneChoice(null, reasons);
    }

    /** Why the client does not have the lanes that it likes better than the chosen one. */
    static List<String> reasons(LaneKind chosen, Terms own, Hello server) {
        List<String> reasons = new ArrayList<>();
        for (LaneKind kind : own.lanes().kinds()) {
            if (kind == chosen) {
                break;
            }
            String obstacle = obstacle(kind, own, server, Side.SERVER);
            reasons.add(kind + ": " + (obstacle != null ? obstacle : "the server prefers " + chosen));
        }
        return reasons;
    }

    /** What speaks against a lane, or null. */
    static String obstacle(LaneKind kind, Terms own, Hello peer, Side peerSide) {
        Side self = peerSide.other();
        if (!own.lanes().contains(kind)) {
            return "not among the lanes of " + self;
        }
        if (!kind.isIn(own.offered())) {
            return own.unavailable().getOrDefault(kind, "not available at " + self);
        }
        if (!kind.isIn(peer.lanes())) {
            return "not offered by " + peerSide;
        }
        if (kind == LaneKind.SOCKET) {
            return null;
        }
        if (own.ucxVersion() == 0 || own.ucxVersion() >>> 16 != peer.ucxVersion() >>> 16) {
            return self + " has UCX " + Hello.ucxVersion(own.ucxVersion()) + ", " + peerSide + " "
                    + Hello.ucxVersion(peer.ucxVersion());
        }
        String apart = kind == LaneKind.SHM ? apart(own.party().process(), peer.party().process()) : null;
        String translation = apart != null ? apart : translation(own, peer, peerSide);
        return translation != null || kind != LaneKind.SHM ? translation : leavingHost(own, peer);
    }

    /** What keeps two processes from sharing memory, or null. */
    private static String apart(ProcessIdentity own, ProcessIdentity peer) {
        if (own.host() != peer.host()) {
            return "on different hosts";
        }
        if (own.network() != peer.network()) {
            // UCX wakes a process that sleeps through a Unix socket with an abstract name.
            return "in different network namespaces";
        }
        if (own.ipc() != peer.ipc()) {
            // UCX reaches no memory across them: it tells hosts apart by the IPC namespace, for posix as well.
            return "in different IPC namespaces";
        }
        if (own.pid() != peer.pid()) {
            // UCX notes when the peer's process was started, to know it from another with the same number.
            return "in different PID namespaces";
        }
        return null;
    }

    /**
     * What a peer says of its host anybody can say who has asked this side before. The kernel's addresses cannot be said: of
     * a connection that does not leave the host they are the same, or both of the loopback.
     */
    private static String leavingHost(Terms own, Hello peer) {
        if (own.translatedAddresses() && peer.translatedAddresses()) {
            return null;
        }
        InetAddress here = own.local().getAddress();
        InetAddress there = own.remote().getAddress();
        return here.equals(there) || here.isLoopbackAddress() && there.isLoopbackAddress() ? null
                : "the connection's addresses are of different hosts: " + text(own.local()) + " and "
                        + text(own.remote());
    }

    /** A proxy sees only the control socket; another lane would go past it, and past what it is there for. */
    private static String translation(Terms own, Hello peer, Side peerSide) {
        if (own.translatedAddresses() && peer.translatedAddresses()) {
            return null;
        }
        if (isSame(own.local(), peer.remote()) && isSame(own.remote(), peer.local())) {
            return null;
        }
        return "the two sides see different addresses: " + peerSide.other() + " has " + text(own.local()) + " and "
                + text(own.remote()) + ", " + peerSide + " has " + text(peer.local()) + " and " + text(peer.remote());
    }

    /** Unknown addresses are not the same. Scopes do not matter: each side counts its interfaces for itself. */
    private static boolean isSame(InetSocketAddress one, InetSocketAddress other) {
        return one != null && other != null && !one.isUnresolved() && one.getPort() == other.getPort()
                && Arrays.equals(one.getAddress().getAddress(), other.getAddress().getAddress());
    }

    private static String text(InetSocketAddress address) {
        if (address == null || address.isUnresolved()) {
            return "an unknown one";
        }
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort();
    }
}
