// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostAndPortTest {
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:0, 127.0.0.1, 0",
        "node1:65535, node1, 65535",
        "[::1]:7777, ::1, 7777",
        "[fe80::1%eth0]:1, fe80::1%eth0, 1"})
    void isReadAndWrittenTheSame(String text, String host, int port) {
        var parsed = HostAndPort.parse(text);
        assertEquals(new HostAndPort(host, port), parsed);
        assertEquals(text, parsed.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "localhost, there is no port",
        "[::1], there is no port",
        "::1:7777, needs brackets",
        ":7777, there is no host",
        "[]:7777, there is no host",
        "localhost:, the port is not a number",
        "localhost:65536, the port is not a number",
        "localhost:-1, the port is not a number",
        "localhost:http, the port is not a number"})
    void saysWhatIsWrongAndWhatWasExpected(String text, String fault) {
        var message = assertThrows(IllegalArgumentException.class, () -> HostAndPort.parse(text)).getMessage();
        assertTrue(message.contains(text) && message.contains(fault) && message.contains("HOST:PORT"), message);
    }

    @Test
    void resolvesIpv6() {
        assertTrue(HostAndPort.parse("[::1]:7777").resolve().getAddress() instanceof Inet6Address);
    }

    @Test
    void writesLoopbackBrieflyWhateverItsZone() throws Exception {
        var loopback = new InetSocketAddress(Inet6Address.getByAddress(null,
                new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 1), 80);
        assertEquals("[::1]:80", HostAndPort.of(loopback).toString());
    }
}
