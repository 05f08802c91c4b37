// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations that are given the handle of memory which was registered before. */
@Tag("ucx-matrix")
class RegisteredMemoryTest {

    /** Of each sort, about the sizes where UCX changes its ways. */
    private static final int[] SIZES = {1, 999, 1000, 8192, 65_536, 1_000_000};
    private static final int LARGEST = 1_000_000;

    /** It has more than that. */
    private static final long BYTES_OF_A_MAPPING = 32;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"TCP, false", "TCP, true", "SYSV, false", "SYSV, true"})
    void taggedMessagesAreSentFromAndReceivedIntoRegisteredMemory(Links links, boolean rendezvous) throws UcxException {
        try (LinkedPair pair = new LinkedPair(links, rendezvous, UcpFeature.TAG);
                Arena arena = Arena.ofConfined();
                // Two of each, so that a handle that is not changed is found.
                UcpMemory sent = pair.context.map(Bytes.random(arena, LARGEST));
                UcpMemory alsoSent = pair.context.map(Bytes.random(arena, LARGEST - 1));
                UcpMemory received = pair.context.map(arena.allocate(LARGEST, 64).address(), LARGEST);
                UcpMemory alsoReceived = pair.context.allocate(LARGEST)) {
            pair.link();
            long sending = UcpRequestParam.allocateRegistered(arena);
            long receiving = UcpRequestParam.allocateRegistered(arena);
            for (int size : SIZES) {
                for (int i = 0; i < 4; i++) {
                    UcpMemory from = i % 2 == 0 || size == LARGEST ? sent : alsoSent;
                    UcpMemory to = i < 2 ? received : alsoReceived;
                    to.segment().fill((byte) 0);
                    UcpRequestParam.changeMemoryHandle(sending, from.address());
                    UcpRequestParam.changeMemoryHandle(receiving, to.address());
                    boolean waited = pair.pass(pair.toOther, pair.other, from.segment(), to.segment(), size, sending,
                            receiving);
                    if (rendezvous) {
                        assertEquals(size >= Links.RENDEZVOUS, waited, () -> "a rendezvous of " + size + " bytes");
                    }
                    assertArrayEquals(Bytes.of(from.segment(), size), Bytes.of(to.segment(), size));
                }
            }
            assertEquals(List.of(), pair.errors);
            pair.unlink();
        }
    }

    @ParameterizedTest
    @CsvSource({"TCP, false", "TCP, true", "SYSV, false", "SYSV, true"})
    void postedReceivesTakeRegisteredMemoryToo(Links links, boolean rendezvous) throws UcxException {
        try (LinkedPair pair = new LinkedPair(links, rendezvous, UcpFeature.TAG);
                Arena arena = Arena.ofConfined();
                UcpMemory sent = pair.context.map(Bytes.random(arena, LARGEST));
                UcpMemory received = pair.context.map(arena.allocate(LARGEST, 64))) {
            pair.link();
            long param = UcpRequestParam.allocate(arena);
            for (int size : SIZES) {
                // Parts of what is registered.
                int offset = LARGEST - size;
                UcpRequestParam.setMemoryHandle(param, received.address());
                long receive = UcpTag.receiveNbx(
                        pair.other.address(), received.segment().address() + offset, size, 7, -1L, param);
                UcpRequestParam.setMemoryHandle(param, sent.address());
                pair.loop.complete("sending", UcpTag.sendNbx(
                        pair.toOther.address(), sent.segment().address() + offset, size, 7, param));
                pair.loop.complete("receiving", receive);
                assertArrayEquals(Bytes.of(sent.segment().asSlice(offset), size),
                        Bytes.of(received.segment().asSlice(offset), size));
            }
            pair.unlink();
        }
    }

    /** In a JVM without compiler threads, which allocate and free whenever they like. */
    @Test
    void aThousandMappingsLeaveNothingBehind() throws Exception {
        List<String> lines = JavaProgram.run(directory, MappingMain.class, "JDK_JAVA_OPTIONS=-Xint -XX:+UseSerialGC");
        for (Links links : Links.values()) {
            long held = bytes(lines, links.transport() + " held ");
            assertTrue(held >= MappingMain.ROUNDS * BYTES_OF_A_MAPPING, () -> "a leak would be seen: " + lines);
            long left = bytes(lines, links.transport() + " left ");
            assertTrue(left < MappingMain.ROUNDS * BYTES_OF_A_MAPPING, () -> "bytes left behind: " + lines);
        }
    }

    private static long bytes(List<String> lines, String beginning) {
        return lines.stream().filter(line -> line.startsWith(beginning))
                .mapToLong(line -> Long.parseLong(line.substring(beginning.length()))).sum();
    }

    @Test
    void onlyMemoryOfSomeLengthCanBeMappedByItsAddress() throws UcxException {
        try (UcpContext context = Links.SYSV.context(false, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(64).address();
            assertThrows(IllegalArgumentException.class, () -> context.map(address, 0));
            assertThrows(IllegalArgumentException.class, () -> context.map(address, -1));
            assertThrows(IllegalArgumentException.class, () -> context.map(0, 64));
            try (UcpMemory memory = context.map(address, 64)) {
                assertEquals(address, memory.segment().address());
                assertEquals(64, memory.segment().byteSize());
            }
        }
    }
}
