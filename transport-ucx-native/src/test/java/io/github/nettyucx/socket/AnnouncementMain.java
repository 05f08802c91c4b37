// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Announces a server, says so, and waits until it is killed, or until its input ends. */
final class AnnouncementMain {

    private AnnouncementMain() {
    }

    public static void main(String[] arguments) throws IOException {
        Announcement announcement = Announcement.open(
                new InetSocketAddress(InetAddress.ofLiteral(arguments[0]), Integer.parseInt(arguments[1])));
        System.out.println(announcement == null ? "refused" : "there");
        System.out.flush();
        while (System.in.read() >= 0) {
            // Nothing is sent.
        }
        // Not closed: the end of the process does it.
    }
}
