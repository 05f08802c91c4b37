// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SocketSettingTest {

    private static final Map<SocketSetting, Integer> OF_STREAMS = Map.ofEntries(
            Map.entry(SocketSetting.REUSE_ADDRESS, 1), Map.entry(SocketSetting.REUSE_PORT, 1),
            Map.entry(SocketSetting.KEEP_ALIVE, 1), Map.entry(SocketSetting.KEEP_IDLE_SECONDS, 77),
            Map.entry(SocketSetting.KEEP_INTERVAL_SECONDS, 11), Map.entry(SocketSetting.KEEP_COUNT, 5),
            Map.entry(SocketSetting.NO_DELAY, 1), Map.entry(SocketSetting.USER_TIMEOUT_MILLIS, 4321),
            Map.entry(SocketSetting.TRAFFIC_CLASS, 0x10));
    private static final Map<SocketSetting, Integer> OF_DATAGRAMS = Map.of(
            SocketSetting.REUSE_ADDRESS, 1, SocketSetting.BROADCAST, 1, SocketSetting.TRAFFIC_CLASS, 0x20,
            SocketSetting.MULTICAST_LOOP, 0, SocketSetting.MULTICAST_TTL, 9);
    /** What has a test of its own here. */
    private static final Set<SocketSetting> OTHERS = EnumSet.of(SocketSetting.SEND_BUFFER,
            SocketSetting.RECEIVE_BUFFER, SocketSetting.V6_ONLY);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsSetCanBeReadBack(boolean ipv6) throws IOException {
        if (ipv6) {
            SocketPair.ipv6Loopback();
        }
        try (KernelSocket stream = KernelSocket.stream(ipv6); KernelSocket datagrams = KernelSocket.datagram(ipv6)) {
            check(stream, OF_STREAMS);
            check(datagrams, OF_DATAGRAMS);
        }
    }

    private static void check(KernelSocket socket, Map<SocketSetting, Integer> values) throws IOException {
        for (Map.Entry<SocketSetting, Integer> value : values.entrySet()) {
            SocketSetting setting = value.getKey();
            assertTrue(value.getValue() != socket.get(setting), () -> setting + " has the value already");
            socket.set(setting, value.getValue());
            assertEquals(value.getValue(), socket.get(setting), setting::name);
        }
    }

    @Test
    void eachIsTested() {
        Set<SocketSetting> all = EnumSet.copyOf(OF_STREAMS.keySet());
        all.addAll(OF_DATAGRAMS.keySet());
        all.addAll(OTHERS);
        assertEquals(EnumSet.allOf(SocketSetting.class), all);
    }

    @Test
    void theKernelDoublesBuffers() throws IOException {
        try (KernelSocket socket = KernelSocket.stream(false)) {
            socket.set(SocketSetting.SEND_BUFFER, 20_000);
            socket.set(SocketSetting.RECEIVE_BUFFER, 30_000);
            assertEquals(40_000, socket.get(SocketSetting.SEND_BUFFER));
            assertEquals(60_000, socket.get(SocketSetting.RECEIVE_BUFFER));
        }
    }

    @Test
    void bothFamiliesAreTheRuleAndNotFixed() throws IOException {
        SocketPair.ipv6Loopback();
        try (KernelSocket socket = KernelSocket.stream(true)) {
            assertEquals(0, socket.get(SocketSetting.V6_ONLY));
            socket.set(SocketSetting.V6_ONLY, 1);
            assertEquals(1, socket.get(SocketSetting.V6_ONLY));
        }
    }

    @Test
    void whatASocketDoesNotHaveIsRefused() throws IOException {
        try (KernelSocket stream = KernelSocket.stream(false); KernelSocket datagrams = KernelSocket.datagram(false)) {
            assertEquals("setsockopt(KEEP_COUNT) failed: Invalid argument", assertThrows(IOException.class,
                    () -> stream.set(SocketSetting.KEEP_COUNT, 1000)).getMessage());
            assertEquals("setsockopt(V6_ONLY) failed: Protocol not available", assertThrows(IOException.class,
                    () -> stream.set(SocketSetting.V6_ONLY, 1)).getMessage());
            assertThrows(IOException.class, () -> datagrams.get(SocketSetting.NO_DELAY));
        }
    }
}
