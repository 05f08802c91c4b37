// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Who may take this transport where nobody has said who does: processes of this host that have announced it, and those of
 * the networks that the system property {@value ConfiguredDefaults#NETWORKS_PROPERTY} names. Any thread may call.
 */
final class Neighbours {

    /** How long a server that has not answered is taken for an ordinary one. */
    private static final long MEMORY_SECONDS = 60;
    /** The same if it has announced itself, and it, or this process, was too busy for an answer to come. */
    private static final long MEMORY_OF_ANNOUNCED_SECONDS = 5;

    private static final SilentServers silent = new SilentServers(System::nanoTime);

    private Neighbours() {
    }

    /** Why a server is not asked; {@code null} if it is. The two addresses are those of the connection to it. */
    static String reasonNotToAsk(InetSocketAddress server, InetSocketAddress local, Networks networks) {
        if (!networks.contain(server.getAddress())) {
            try {
                if (!isAnnounced(server, local)) {
                    return "the server has not announced this transport on this host, and is in no network whose servers are"
                            + " asked (" + ConfiguredDefaults.NETWORKS_PROPERTY + ")";
                }
            } catch (IOException e) {
                // An ordinary server would not understand a handshake, and one of this transport serves ordinary clients.
                return "whether the server has announced this transport could not be looked up: " + e.getMessage();
            }
        }
        return silent.contain(server) ? "the server did not answer when it was asked a short time ago" : null;
    }

    /** Whether it is likely to be asked, as far as can be told before there is a connection. */
    static boolean mayBeAsked(InetSocketAddress server, Networks networks) {
        try {
            return (networks.contain(server.getAddress()) || Announcement.isThere(server)) && !silent.contain(server);
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a client may be of this transport: others have no reason to expect it here. */
    static boolean mayAsk(InetSocketAddress client, InetSocketAddress local, Networks networks) {
        return isOfThisHost(client.getAddress(), local.getAddress()) || networks.contain(client.getAddress());
    }

    private static boolean isOfThisHost(InetAddress peer, InetAddress local) {
        return peer.isLoopbackAddress() || peer.equals(local);
    }

    /** Only a process of this host can have announced itself; a port of another host's may be anybody's here. */
    private static boolean isAnnounced(InetSocketAddress server, InetSocketAddress local) throws IOException {
        return isOfThisHost(server.getAddress(), local.getAddress()) && Announcement.isThere(server);
    }

    /**
     * It has been asked, and has not answered as one of this transport.
     *
     * @param excused if it is one of this transport: it has said nothing, or was asked too late
     * @return for how many seconds it is not asked again
     */
    static long hasNotAnswered(InetSocketAddress server, InetSocketAddress local, boolean excused) {
        long seconds = excused && isOrMayBeAnnounced(server, local) ? MEMORY_OF_ANNOUNCED_SECONDS : MEMORY_SECONDS;
        silent.add(server, seconds);
        return seconds;
    }

    /** Whether it is not asked for now. */
    static boolean isSilent(InetSocketAddress server) {
        return silent.contain(server);
    }

    /** Whether it has announced itself, or that cannot be looked up. */
    static boolean isOrMayBeAnnounced(InetSocketAddress server, InetSocketAddress local) {
        try {
            return isAnnounced(server, local);
        } catch (IOException e) {
            return true;
        }
    }
}
