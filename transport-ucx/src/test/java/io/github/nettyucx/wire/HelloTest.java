// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HelloTest {

    private static final int UCX_1_22_0 = 1 << 24 | 22 << 16;

    private static Hello hello() {
        return new Hello(Hello.VERSION, UCX_1_22_0, 0xfeed_beef, 1024 * 1024, 256 * 1024);
    }

    private static ByteBuf encoded(Hello hello) {
        ByteBuf bytes = Unpooled.buffer(Hello.LENGTH, Hello.LENGTH);
        hello.encode(bytes);
        return bytes;
    }

    private static String refusal(ByteBuf bytes) {
        return assertThrows(ProtocolException.class, () -> Hello.decode(bytes, UCX_1_22_0)).getMessage();
    }

    @Test
    void isEncodedByteByByteAsDocumented() {
        assertEquals("4e65747479554358" + "0001" + "0040" + "01160000" + "feedbeef" + "00100000" + "00040000"
                + "00".repeat(36), ByteBufUtil.hexDump(encoded(hello())));
    }

    @Test
    void beginsWithTheProtocolsName() {
        assertEquals("NettyUCX", encoded(hello()).toString(0, 8, StandardCharsets.US_ASCII));
    }

    @Test
    void decodesWhatItEncodes() throws ProtocolException {
        assertEquals(hello(), Hello.decode(encoded(hello()), UCX_1_22_0));
    }

    @Test
    void ignoresTheReservedBytes() throws ProtocolException {
        ByteBuf bytes = encoded(hello());
        for (int i = 28; i < Hello.LENGTH; i++) {
            bytes.setByte(i, 0xff);
        }
        assertEquals(hello(), Hello.decode(bytes, UCX_1_22_0));
    }

    @Test
    void refusesWhatIsNoHello() {
        ByteBuf bytes = Unpooled.copiedBuffer("GET / HTTP/1.1\r\n" + " ".repeat(48), StandardCharsets.US_ASCII);
        String message = refusal(bytes);
        assertTrue(message.startsWith("the peer's first bytes are 0x474554202f204854, not the magic number"), message);
        assertTrue(message.endsWith("another program listens or connects there; check host and port"), message);
    }

    @Test
    void refusesAnotherVersion() {
        String message = refusal(encoded(new Hello(2, UCX_1_22_0, 1, 4096, 1024)));
        assertEquals("the peer speaks version 2 of the Netty UCX protocol, this side version 1: "
                + "use the same release of the transport on both sides", message);
    }

    @Test
    void refusesAnotherLength() {
        ByteBuf bytes = encoded(hello()).setShort(10, 72);
        assertEquals("the peer's HELLO has 72 bytes; expected 64", refusal(bytes));
    }

    @Test
    void refusesAnotherMinorReleaseOfUcx() {
        String message = refusal(encoded(new Hello(Hello.VERSION, 1 << 24 | 16 << 16 | 3, 1, 4096, 1024)));
        assertTrue(message.startsWith("the peer runs UCX 1.16.3, this side UCX 1.22.0: "), message);
    }

    @Test
    void takesAnotherPatchOfUcx() throws ProtocolException {
        Hello patched = new Hello(Hello.VERSION, UCX_1_22_0 | 7, 1, 4096, 1024);
        assertEquals(patched, Hello.decode(encoded(patched), UCX_1_22_0));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 4096, 1",
        "1, 4096, 4096",
        "-1, 134217728, 134217728"
    })
    void takesTheExtremes(int channelId, int window, int maxMessage) throws ProtocolException {
        Hello extreme = new Hello(Hello.VERSION, UCX_1_22_0, channelId, window, maxMessage);
        assertEquals(extreme, Hello.decode(encoded(extreme), UCX_1_22_0));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 4096, 1024",
        "1, 4095, 1024",
        "1, 134217729, 1024",
        "1, -1, 1024",
        "1, 4096, 0",
        "1, 4096, -1",
        "1, 4096, 4097"
    })
    void refusesImpossibleLimits(int channelId, int window, int maxMessage) {
        String message = refusal(encoded(new Hello(Hello.VERSION, UCX_1_22_0, channelId, window, maxMessage)));
        assertTrue(message.startsWith("the peer announced impossible limits: "), message);
        assertTrue(message.contains("window=" + window), message);
    }
}
