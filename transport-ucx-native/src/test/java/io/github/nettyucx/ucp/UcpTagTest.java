// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpTagTest {

    private static final long ANY = 0;

    /** Within one segment, beyond it, and beyond the rendezvous threshold; an empty message is a message as well. */
    private static final int[] SIZES = {0, 1, 8, 4096, 100_000, 5_000_000};
    private static final int LARGE = 5_000_000;

    @ParameterizedTest
    @EnumSource
    void aProbedMessageArrivesWithItsTagAndBytes(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long info = arena.allocate(UcpTag.INFO_SIZE, 8).address();
            for (int size : SIZES) {
                MemorySegment sent = Bytes.random(arena, size);
                MemorySegment received = arena.allocate(Math.max(size, 1));
                long tag = 0xfedc_ba98_0000_0000L + size;
                long send = UcpTag.sendNbx(pair.client.address(), sent.address(), size, tag, param);
                long[] message = new long[1];
                pair.loop.until("a message of " + size + " bytes", () -> {
                    message[0] = UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, true, info);
                    return message[0] != 0;
                });
                assertEquals(tag, UcpTag.infoTag(info));
                assertEquals(size, UcpTag.infoLength(info));
                pair.loop.complete("receiving", UcpTag.messageReceiveNbx(
                        pair.serverWorker.address(), received.address(), size, message[0], param));
                pair.loop.complete("sending", send);
                assertArrayEquals(Bytes.of(sent, size), Bytes.of(received, size));
                assertEquals(0, UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, true, info), "a second message");
            }
        }
    }

    /** UCX before 1.22 crashes when a rendezvous is given up; the loader forbids it there. */
    @ParameterizedTest
    @EnumSource
    void aLargeMessageWaitsForItsReceiverOnlyWhereARendezvousIsSafe(Lanes lanes) throws UcxException {
        boolean safe = UcpLibraryInfo.query().minor() >= 22;
        assumeTrue(!safe || System.getenv("UCX_RNDV_THRESH") == null, "the user has decided");
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long info = arena.allocate(UcpTag.INFO_SIZE, 8).address();
            MemorySegment buffer = arena.allocate(LARGE);
            long send = UcpTag.sendNbx(pair.client.address(), buffer.address(), LARGE, 1, param);
            if (!safe) {
                pair.loop.complete("sending what nobody has asked for", send);
            }
            pair.loop.until("the message",
                    () -> UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, false, info) != 0);
            if (safe) {
                assertEquals(UcsStatus.INPROGRESS, UcpRequest.checkStatus(send));
            }
            assertEquals(LARGE, UcpTag.infoLength(info));
            long message = UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, true, info);
            pair.loop.complete("receiving", UcpTag.messageReceiveNbx(
                    pair.serverWorker.address(), buffer.address(), LARGE, message, param));
            if (safe) {
                pair.loop.complete("sending", send);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPostedReceiveTakesOnlyTheTagsThatItAskedFor(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long info = arena.allocate(UcpTag.INFO_SIZE, 8).address();
            MemorySegment sent = Bytes.random(arena, 64);
            MemorySegment received = arena.allocate(64);
            long receive = UcpTag.receiveNbx(
                    pair.serverWorker.address(), received.address(), 64, 0x2_0000, 0xffff_0000L, param);
            assertTrue(UcsStatus.isRequest(receive));

            pair.loop.complete("sending another tag",
                    UcpTag.sendNbx(pair.client.address(), sent.address(), 16, 0x1_0007, param));
            pair.loop.complete("sending the tag",
                    UcpTag.sendNbx(pair.client.address(), sent.address(), 48, 0x2_0007, param));
            pair.loop.until("the receive", () -> UcpRequest.checkStatus(receive) != UcsStatus.INPROGRESS);

            assertEquals(UcsStatus.OK, UcpTag.testReceive(receive, info));
            assertEquals(0x2_0007, UcpTag.infoTag(info));
            assertEquals(48, UcpTag.infoLength(info));
            UcpRequest.free(receive);
            assertArrayEquals(Bytes.of(sent, 48), Bytes.of(received, 48));
            long left = UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, true, info);
            assertNotEquals(0, left);
            assertEquals(0x1_0007, UcpTag.infoTag(info));
            pair.loop.complete("receiving the other message", UcpTag.messageReceiveNbx(
                    pair.serverWorker.address(), received.address(), 16, left, param));
        }
    }

    @Test
    void aMessageThatDoesNotFitIsReportedAsTruncated() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment buffer = Bytes.random(arena, 64);
            long receive =
                    UcpTag.receiveNbx(pair.serverWorker.address(), buffer.address(), 8, 1, -1L, param);
            pair.loop.complete("sending", UcpTag.sendNbx(pair.client.address(), buffer.address(), 64, 1, param));
            assertEquals(UcsStatus.ERR_MESSAGE_TRUNCATED, pair.loop.status("receiving", receive));
        }
    }

    @Test
    void aSynchronousSendWaitsForItsReceiver() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment buffer = Bytes.random(arena, 64);
            long info = arena.allocate(UcpTag.INFO_SIZE, 8).address();
            long send = UcpTag.sendSyncNbx(pair.client.address(), buffer.address(), 32, 1, param);
            pair.loop.until("the message",
                    () -> UcpTag.probeNb(pair.serverWorker.address(), 0, ANY, false, info) != 0);
            assertEquals(UcsStatus.INPROGRESS, UcpRequest.checkStatus(send));
            pair.loop.complete("receiving", UcpTag.receiveNbx(
                    pair.serverWorker.address(), buffer.address() + 32, 32, 1, -1L, param));
            pair.loop.complete("sending", send);
        }
    }

    @Test
    void aReceiveCanBeCancelled() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long receive = UcpTag.receiveNbx(pair.serverWorker.address(), arena.allocate(8).address(), 8, 1, -1L,
                    UcpRequestParam.allocate(arena));
            assertEquals(UcsStatus.INPROGRESS, UcpRequest.checkStatus(receive));
            UcpRequest.cancel(pair.serverWorker.address(), receive);
            assertEquals(UcsStatus.ERR_CANCELED, pair.loop.status("cancelling", receive));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIovIsSentAsOneMessage(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            UcpRequestParam.setDatatype(param, UcpRequestParam.DATATYPE_IOV);
            int parts = 10;
            int size = 1000;
            MemorySegment sent = Bytes.random(arena, parts * size);
            MemorySegment received = arena.allocate(parts * size);
            long iov = arena.allocate((long) parts * UcpIov.SIZE, 8).address();
            for (int i = 0; i < parts; i++) {
                UcpIov.set(iov, i, sent.address() + (long) i * size, size);
            }
            assertEquals(sent.address() + size, UcpIov.buffer(iov, 1));
            assertEquals(size, UcpIov.length(iov, parts - 1));
            long send = UcpTag.sendNbx(pair.client.address(), iov, parts, 5, param);
            pair.loop.complete("receiving", UcpTag.receiveNbx(pair.serverWorker.address(), received.address(),
                    parts * size, 5, -1L, UcpRequestParam.allocate(arena)));
            pair.loop.complete("sending", send);
            assertArrayEquals(Bytes.of(sent, parts * size), Bytes.of(received, parts * size));
        }
    }
}
