// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PeerTextTest {

    @Test
    void keepsWhatCanBePrinted() {
        assertEquals("größer als 日本 𝄞, wirklich?", PeerText.printable("größer als 日本 𝄞, wirklich?"));
    }

    @Test
    void takesOutWhatDoesSomethingToALog() {
        assertEquals("a b ?[2J?c??", PeerText.printable("a\nb\r\u001b[2J\u0000c\u202e\u2028"));
    }

    @Test
    void linesStandBesideEachOther() {
        assertEquals("no UCX:  tried a b", PeerText.printable("no UCX:\r\ntried a\tb"));
        assertEquals("no UCX: tried a, not b", text(PeerText.encode("no UCX:\r\n    tried a,\u2028\tnot b\n")));
        // Before it is cut.
        assertEquals("x".repeat(127) + ' ' + "y".repeat(127),
                text(PeerText.encode("x".repeat(127) + "\n".repeat(200) + "y".repeat(127))));
    }

    @Test
    void takesOutWhatIsNoText() {
        assertEquals("ok \ufffd", PeerText.read(Unpooled.wrappedBuffer(new byte[] {'o', 'k', ' ', (byte) 0xff})));
    }

    @Test
    void isCutToWhatAFrameTakesAndSaysSo() {
        assertEquals("x".repeat(255), text(PeerText.encode("x".repeat(255))));
        assertEquals("x".repeat(252) + '…', text(PeerText.encode("x".repeat(256))));
        // Two bytes each: half of one would have been within.
        assertEquals("x" + "ä".repeat(125) + '…', text(PeerText.encode("x" + "ä".repeat(200))));
        assertEquals("𝄞".repeat(63) + '…', text(PeerText.encode("𝄞".repeat(64))));
        assertEquals("xxx" + "𝄞".repeat(62) + '…', text(PeerText.encode("xxx" + "𝄞".repeat(64))));
    }

    private static String text(byte[] bytes) {
        assertTrue(bytes.length <= 255);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
