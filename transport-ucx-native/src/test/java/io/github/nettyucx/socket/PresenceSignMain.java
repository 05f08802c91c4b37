// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;
import java.util.HexFormat;

/** Leaves a sign, says so, and waits until it is killed, or until its input ends. */
final class PresenceSignMain {

    private PresenceSignMain() {
    }

    public static void main(String[] arguments) throws IOException {
        PresenceSign sign = PresenceSign.open(HexFormat.of().parseHex(arguments[0]));
        System.out.println(sign == null ? "refused" : "there");
        System.out.flush();
        while (System.in.read() >= 0) {
            // Nothing is sent.
        }
        // Not closed: the end of the process does it.
    }
}
