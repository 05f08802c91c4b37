// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpStreamTest {

    private static final int SIZE = 1_000_000;

    @ParameterizedTest
    @EnumSource
    void bytesArriveInOrderInTheLibrarysOwnBuffers(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.STREAM); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment sent = Bytes.random(arena, SIZE);
            MemorySegment received = arena.allocate(SIZE);
            long send = UcpStream.sendNbx(pair.client.address(), sent.address(), SIZE, param);
            long[] position = new long[1];
            pair.loop.until("all bytes", () -> {
                long data = UcpStream.receiveDataNb(pair.server.address(), length.address());
                if (data != 0) {
                    assertTrue(data > 0, () -> UcsStatus.string((int) data));
                    long count = length.get(ValueLayout.JAVA_LONG, 0);
                    MemorySegment.copy(NativeMemory.segment(data, count), 0, received, position[0], count);
                    position[0] += count;
                    UcpStream.dataRelease(pair.server.address(), data);
                }
                return position[0] == SIZE;
            });
            pair.loop.complete("sending", send);
            assertArrayEquals(Bytes.of(sent, SIZE), Bytes.of(received, SIZE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReceiveThatWaitsForAllFillsItsBuffer(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.STREAM); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long waitAll = UcpRequestParam.allocate(arena);
            UcpRequestParam.setFlags(waitAll, UcpStream.RECEIVE_FLAG_WAIT_ALL);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment sent = Bytes.random(arena, SIZE);
            MemorySegment received = arena.allocate(SIZE);
            long receive = UcpStream.receiveNbx(
                    pair.server.address(), received.address(), SIZE, length.address(), waitAll);
            assertTrue(UcsStatus.isRequest(receive));
            assertEquals(UcsStatus.INPROGRESS, UcpStream.testReceive(receive, length.address()));
            for (int half = 0; half < 2; half++) {
                pair.loop.complete("sending", UcpStream.sendNbx(
                        pair.client.address(), sent.address() + (long) half * SIZE / 2, SIZE / 2, param));
            }
            pair.loop.until("the receive", () -> UcpRequest.checkStatus(receive) != UcsStatus.INPROGRESS);
            assertEquals(UcsStatus.OK, UcpStream.testReceive(receive, length.address()));
            assertEquals(SIZE, length.get(ValueLayout.JAVA_LONG, 0));
            UcpRequest.free(receive);
            assertArrayEquals(Bytes.of(sent, SIZE), Bytes.of(received, SIZE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWorkerTellsWhichEndpointsHaveBytes(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.STREAM); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment sent = Bytes.random(arena, 16);
            long polled = arena.allocate(4L * UcpStream.POLL_ENDPOINT_SIZE, 8).address();
            assertEquals(0, UcpStream.workerPoll(pair.serverWorker.address(), polled, 4, 0));
            pair.loop.complete("sending", UcpStream.sendNbx(pair.client.address(), sent.address(), 16, param));
            pair.loop.until("an endpoint with bytes",
                    () -> UcpStream.workerPoll(pair.serverWorker.address(), polled, 4, 0) == 1);
            assertEquals(pair.server.address(), UcpStream.pollEndpoint(polled));
            assertSame(pair.server, UcpEndpoint.of(UcpStream.pollEndpointId(polled)));
        }
    }
}
