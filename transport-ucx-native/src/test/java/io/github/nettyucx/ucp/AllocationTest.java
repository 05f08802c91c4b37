// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** What happens for each message must not leave anything for the garbage collector. */
class AllocationTest {

    private static final int ROUNDS = 10_000;
    private static final int BATCHES = 100;
    /** A round has some ten calls; an object would be 16 bytes at least. The rest is the measurement's own. */
    private static final double MAX_BYTES_PER_ROUND = 1;

    private static final int SIZE = 64;
    private static final int ID = 3;

    @Test
    void taggedMessagesAllocateNothing() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long client = pair.client.address();
            long clientWorker = pair.clientWorker.address();
            long serverWorker = pair.serverWorker.address();
            long param = UcpRequestParam.allocate(arena);
            long info = arena.allocate(UcpTag.INFO_SIZE, 8).address();
            long buffer = arena.allocate(2 * SIZE).address();
            measure(() -> {
                long send = UcpTag.sendNbx(client, buffer, SIZE, 1, param);
                long message;
                while ((message = UcpTag.probeNb(serverWorker, 0, 0, true, info)) == 0) {
                    UcpWorker.progress(serverWorker);
                    UcpWorker.progress(clientWorker);
                }
                expect(1, UcpTag.infoTag(info));
                expect(SIZE, UcpTag.infoLength(info));
                long fetch = UcpTag.messageReceiveNbx(serverWorker, buffer + SIZE, SIZE, message, param);
                complete(fetch, serverWorker, clientWorker);
                complete(send, clientWorker, serverWorker);
                complete(UcpEndpoint.flushNbx(client, param), clientWorker, serverWorker);

                long receive = UcpTag.receiveNbx(serverWorker, buffer + SIZE, SIZE, 2, -1L, param);
                complete(UcpTag.sendNbx(client, buffer, SIZE, 2, param), clientWorker, serverWorker);
                complete(receive, serverWorker, clientWorker);

                receive = UcpTag.receiveNbx(serverWorker, buffer + SIZE, SIZE, 2, -1L, param);
                UcpRequest.cancel(serverWorker, receive);
                while (UcpRequest.checkStatus(receive) == UcsStatus.INPROGRESS) {
                    UcpWorker.progress(serverWorker);
                }
                UcpRequest.free(receive);
            });
        }
    }

    @Test
    void changingTheMemoryHandleAllocatesNothing() throws UcxException {
        try (LinkedPair pair = new LinkedPair(Links.TCP, false, UcpFeature.TAG);
                Arena arena = Arena.ofConfined();
                UcpMemory sent = pair.context.map(arena.allocate(SIZE));
                UcpMemory received = pair.context.map(arena.allocate(SIZE))) {
            pair.link();
            long endpoint = pair.toOther.address();
            long one = pair.one.address();
            long other = pair.other.address();
            long from = sent.segment().address();
            long to = received.segment().address();
            long param = UcpRequestParam.allocateRegistered(arena);
            measure(() -> {
                UcpRequestParam.changeMemoryHandle(param, received.address());
                long receive = UcpTag.receiveNbx(other, to, SIZE, 1, -1L, param);
                UcpRequestParam.changeMemoryHandle(param, sent.address());
                complete(UcpTag.sendNbx(endpoint, from, SIZE, 1, param), one, other);
                complete(receive, other, one);
            });
            pair.unlink();
        }
    }

    @Test
    void streamsAllocateNothing() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.STREAM); Arena arena = Arena.ofConfined()) {
            long client = pair.client.address();
            long server = pair.server.address();
            long clientWorker = pair.clientWorker.address();
            long serverWorker = pair.serverWorker.address();
            long param = UcpRequestParam.allocate(arena);
            long length = arena.allocate(8, 8).address();
            long polled = arena.allocate(UcpStream.POLL_ENDPOINT_SIZE, 8).address();
            long buffer = arena.allocate(2 * SIZE).address();
            measure(() -> {
                complete(UcpStream.sendNbx(client, buffer, SIZE, param), clientWorker, serverWorker);
                while (UcpStream.workerPoll(serverWorker, polled, 1, 0) == 0) {
                    UcpWorker.progress(serverWorker);
                    UcpWorker.progress(clientWorker);
                }
                expect(server, UcpEndpoint.of(UcpStream.pollEndpointId(polled)).address());
                long data = UcpStream.receiveDataNb(UcpStream.pollEndpoint(polled), length);
                expect(SIZE, NativeMemory.getLong(length));
                UcpStream.dataRelease(server, data);

                long receive = UcpStream.receiveNbx(server, buffer + SIZE, SIZE, length, param);
                complete(UcpStream.sendNbx(client, buffer, SIZE, param), clientWorker, serverWorker);
                while (UcpStream.testReceive(receive, length) == UcsStatus.INPROGRESS) {
                    UcpWorker.progress(serverWorker);
                    UcpWorker.progress(clientWorker);
                }
                expect(SIZE, NativeMemory.getLong(length));
                UcpRequest.free(receive);
            });
        }
    }

    @Test
    void activeMessagesAllocateNothingEvenInTheirHandler() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.AM); Arena arena = Arena.ofConfined()) {
            long client = pair.client.address();
            long clientWorker = pair.clientWorker.address();
            long serverWorker = pair.serverWorker.address();
            long param = UcpRequestParam.allocate(arena);
            long buffer = arena.allocate(SIZE).address();
            long[] received = new long[1];
            UcpActiveMessage.setHandler(pair.serverWorker, ID, 0, (header, headerLength, data, length, p) -> {
                received[0] += length;
                return UcpActiveMessage.isRendezvous(p) ? UcsStatus.ERR_UNSUPPORTED : UcsStatus.OK;
            });
            measure(() -> {
                long before = received[0];
                long send = UcpActiveMessage.sendNbx(client, ID, buffer, 8, buffer, SIZE, param);
                complete(send, clientWorker, serverWorker);
                while (received[0] == before) {
                    UcpWorker.progress(serverWorker);
                    UcpWorker.progress(clientWorker);
                }
                expect(SIZE, received[0] - before);
            });
        }
    }

    @Test
    void armingAndSignallingAllocateNothing() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.TAG, UcpFeature.WAKEUP);
                UcpWorker typed = context.createWorker(new UcpWorkerParams())) {
            long worker = typed.address();
            measure(() -> {
                int status;
                while ((status = UcpWorker.arm(worker)) == UcsStatus.ERR_BUSY) {
                    UcpWorker.progress(worker);
                }
                expect(UcsStatus.OK, status);
                expect(UcsStatus.OK, UcpWorker.signal(worker));
                while (UcpWorker.progress(worker) != 0) {
                    // Until there is nothing left.
                }
            });
        }
    }

    private static void complete(long statusPointer, long worker, long peer) {
        if (statusPointer == 0) {
            return;
        }
        if (statusPointer < 0) {
            throw new AssertionError(UcsStatus.string((int) statusPointer));
        }
        while (UcpRequest.checkStatus(statusPointer) == UcsStatus.INPROGRESS) {
            UcpWorker.progress(worker);
            UcpWorker.progress(peer);
        }
        UcpRequest.free(statusPointer);
    }

    private static void expect(long expected, long actual) {
        if (expected != actual) {
            throw new AssertionError("expected: " + expected + ", but was: " + actual);
        }
    }

    private static void measure(Runnable round) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        assertTrue(threads.isThreadAllocatedMemoryEnabled(), "the measurement needs it");
        double bytes = Double.MAX_VALUE;
        // The compiler that leaves objects out works when it finds the time, on a busy machine later than on others.
        for (int batch = 0; batch < BATCHES && bytes >= MAX_BYTES_PER_ROUND; batch++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                round.run();
            }
            bytes = (double) (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
        }
        double last = bytes;
        assertTrue(bytes < MAX_BYTES_PER_ROUND, () -> last + " bytes allocated per round");
    }
}
