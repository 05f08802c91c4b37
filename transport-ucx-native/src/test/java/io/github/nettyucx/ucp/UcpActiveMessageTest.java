// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpActiveMessageTest {

    private static final int ID = 7;
    private static final int LARGE = 5_000_000;

    @ParameterizedTest
    @EnumSource
    void anEagerMessageArrivesWithHeaderAndDataAndCanBeAnswered(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.AM); Arena arena = Arena.ofConfined()) {
            assertTrue(pair.clientWorker.maxActiveMessageHeader() >= 64);
            long param = UcpRequestParam.allocate(arena);
            long withReply = UcpRequestParam.allocate(arena);
            UcpRequestParam.setFlags(withReply, UcpActiveMessage.SEND_FLAG_REPLY);
            MemorySegment header = Bytes.random(arena, 10);
            MemorySegment data = Bytes.random(arena, 1000);
            List<byte[]> received = new ArrayList<>();
            long[] replyEndpoint = new long[1];
            UcpActiveMessage.setHandler(pair.serverWorker, ID, UcpActiveMessage.HANDLER_FLAG_WHOLE_MESSAGE,
                    (h, headerLength, d, length, p) -> {
                        assertFalse(UcpActiveMessage.isRendezvous(p));
                        received.add(NativeMemory.getBytes(h, headerLength));
                        received.add(NativeMemory.getBytes(d, length));
                        replyEndpoint[0] = UcpActiveMessage.replyEndpoint(p);
                        return UcsStatus.OK;
                    });
            List<byte[]> answers = new ArrayList<>();
            UcpActiveMessage.setHandler(pair.clientWorker, ID, 0, (h, headerLength, d, length, p) -> {
                answers.add(NativeMemory.getBytes(d, length));
                assertEquals(0, UcpActiveMessage.replyEndpoint(p));
                return UcsStatus.OK;
            });

            pair.loop.complete("sending", UcpActiveMessage.sendNbx(
                    pair.client.address(), ID, header.address(), 10, data.address(), 1000, withReply));
            pair.loop.until("the message", () -> !received.isEmpty());
            assertArrayEquals(Bytes.of(header, 10), received.get(0));
            assertArrayEquals(Bytes.of(data, 1000), received.get(1));
            assertEquals(pair.server.address(), replyEndpoint[0]);

            pair.loop.complete("answering", UcpActiveMessage.sendNbx(
                    replyEndpoint[0], ID, 0, 0, data.address(), 5, param));
            pair.loop.until("the answer", () -> !answers.isEmpty());
            assertArrayEquals(Bytes.of(data, 5), answers.get(0));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRendezvousMessageIsFetchedWhenTheReceiverLikes(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.AM); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long rendezvous = UcpRequestParam.allocate(
                    arena, UcpRequestParam.OP_ATTR_FIELD_FLAGS, UcpActiveMessage.SEND_FLAG_RENDEZVOUS);
            MemorySegment sent = Bytes.random(arena, LARGE);
            MemorySegment received = arena.allocate(LARGE);
            long[] descriptor = new long[1];
            UcpActiveMessage.setHandler(pair.serverWorker, ID, 0, (h, headerLength, data, length, p) -> {
                assertTrue(UcpActiveMessage.isRendezvous(p));
                assertEquals(LARGE, length);
                descriptor[0] = data;
                return UcsStatus.INPROGRESS;
            });
            long send = UcpActiveMessage.sendNbx(
                    pair.client.address(), ID, 0, 0, sent.address(), LARGE, rendezvous);
            pair.loop.until("the announcement", () -> descriptor[0] != 0);
            assertEquals(UcsStatus.INPROGRESS, UcpRequest.checkStatus(send), "nobody has fetched the data yet");

            pair.loop.complete("fetching", UcpActiveMessage.receiveDataNbx(
                    pair.serverWorker.address(), descriptor[0], received.address(), LARGE, param));
            pair.loop.complete("sending", send);
            assertArrayEquals(Bytes.of(sent, LARGE), Bytes.of(received, LARGE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void persistentDataIsKeptUntilItIsReleased(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.AM); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            List<MemorySegment> kept = new ArrayList<>();
            UcpActiveMessage.setHandler(pair.serverWorker, ID, UcpActiveMessage.HANDLER_FLAG_PERSISTENT_DATA,
                    (h, headerLength, data, length, p) -> {
                        assertTrue(UcpActiveMessage.isPersistent(p));
                        kept.add(NativeMemory.segment(data, length));
                        return UcsStatus.INPROGRESS;
                    });
            int count = 50;
            for (int i = 0; i < count; i++) {
                MemorySegment data = arena.allocate(512).fill((byte) i);
                pair.loop.complete("sending", UcpActiveMessage.sendNbx(
                        pair.client.address(), ID, 0, 0, data.address(), 512, param));
            }
            pair.loop.until("all messages", () -> kept.size() == count);
            for (int i = 0; i < count; i++) {
                byte[] expected = new byte[512];
                Arrays.fill(expected, (byte) i);
                assertArrayEquals(expected, kept.get(i).toArray(ValueLayout.JAVA_BYTE));
                UcpActiveMessage.dataRelease(pair.serverWorker.address(), kept.get(i).address());
            }
        }
    }

    @Test
    void aHandlerThatThrowsLosesItsMessageOnly() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.AM);
                Arena arena = Arena.ofConfined();
                LogCapture log = new LogCapture()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment data = Bytes.random(arena, 8);
            int[] calls = new int[1];
            UcpActiveMessage.setHandler(pair.serverWorker, ID, 0, (h, headerLength, d, length, p) -> {
                if (calls[0]++ == 0) {
                    throw new IllegalStateException("thrown on purpose");
                }
                return UcsStatus.OK;
            });
            for (int i = 0; i < 2; i++) {
                pair.loop.complete("sending", UcpActiveMessage.sendNbx(
                        pair.client.address(), ID, 0, 0, data.address(), 8, param));
            }
            pair.loop.until("both messages", () -> calls[0] == 2);
            assertEquals(List.of("An active message handler failed: thrown on purpose"), log.messages());
        }
    }

    @Test
    void anIdThatUcxCannotSendIsRefused() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.AM)) {
            ActiveMessageHandler handler = (h, headerLength, d, length, p) -> UcsStatus.OK;
            assertThrows(IllegalArgumentException.class,
                    () -> UcpActiveMessage.setHandler(pair.clientWorker, -1, 0, handler));
            assertThrows(IllegalArgumentException.class,
                    () -> UcpActiveMessage.setHandler(pair.clientWorker, 65536, 0, handler));
        }
    }
}
