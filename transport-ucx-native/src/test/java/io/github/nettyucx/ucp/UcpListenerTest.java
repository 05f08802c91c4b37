// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ucx-matrix")
class UcpListenerTest {

    private final Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
    private final List<Integer> errors = new ArrayList<>();
    private UcpContext context;
    private UcpWorker serverWorker;
    private UcpWorker clientWorker;
    private Loop loop;

    @BeforeEach
    void create() throws UcxException {
        context = Lanes.TCP.context(UcpFeature.TAG, UcpFeature.STREAM);
        serverWorker = context.createWorker(new UcpWorkerParams());
        clientWorker = context.createWorker(new UcpWorkerParams());
        loop = new Loop(serverWorker, clientWorker);
    }

    @AfterEach
    void destroy() {
        clientWorker.close();
        serverWorker.close();
        context.close();
    }

    @Test
    void nobodyListeningIsNotConnectedOrAReset() throws Exception {
        try (RefusingPort port = new RefusingPort()) {
            connect(port.address());
            loop.until("the refusal", () -> !errors.isEmpty());
            assertEquals(1, errors.size());
            // The latter on UCX 1.22, now and then.
            assertTrue(Set.of(UcsStatus.ERR_NOT_CONNECTED, UcsStatus.ERR_CONNECTION_RESET)
                    .contains(errors.getFirst()), () -> UcsStatus.name(errors.getFirst()));
        }
    }

    @Test
    void aRejectedClientIsTold() throws UcxException {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        connect(listener.localAddress());
        loop.until("a request", () -> !requests.isEmpty());
        assertEquals(1, listener.pendingRequests());
        UcpConnectionRequest request = requests.remove();
        assertEquals(0, request.clientId(), "the client didn't send its id");
        listener.reject(request);
        assertEquals(0, listener.pendingRequests());
        loop.until("the rejection", () -> !errors.isEmpty());
        assertEquals(List.of(UcsStatus.ERR_REJECTED), errors);
    }

    @Test
    void closingRejectsWhatIsPending() throws UcxException {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        connect(listener.localAddress());
        loop.until("a request", () -> !requests.isEmpty());
        listener.close();
        loop.until("the rejection", () -> !errors.isEmpty());
        assertEquals(List.of(UcsStatus.ERR_REJECTED), errors);
        UcpConnectionRequest request = requests.remove();
        assertTrue(request.isTaken());
        assertThrows(IllegalStateException.class, () -> serverWorker.accept(request, (e, status) -> { }));
    }

    @Test
    void aHandlerThatThrowsRejects() throws UcxException {
        try (LogCapture log = new LogCapture()) {
            UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), request -> {
                throw new IllegalStateException("thrown on purpose");
            });
            connect(listener.localAddress());
            loop.until("the rejection", () -> !errors.isEmpty());
            assertEquals(List.of(UcsStatus.ERR_REJECTED), errors);
            assertEquals(List.of("A listener's connection handler failed: thrown on purpose"), log.messages());
        }
    }

    @Test
    void aRequestIsAcceptedOrRejectedOnce() throws UcxException {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        connect(listener.localAddress());
        loop.until("a request", () -> !requests.isEmpty());
        UcpConnectionRequest request = requests.remove();
        serverWorker.accept(request, (e, status) -> { });
        assertThrows(IllegalStateException.class, () -> serverWorker.accept(request, (e, status) -> { }));
        assertThrows(IllegalStateException.class, () -> listener.reject(request));
        UcpListener other = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        assertThrows(IllegalArgumentException.class, () -> other.reject(request));
    }

    @Test
    void aRequestCanBeAcceptedOnAnotherThreadsWorker() throws Exception {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        try (ExecutorService thread = Executors.newSingleThreadExecutor(); Arena arena = Arena.ofShared()) {
            long param = UcpRequestParam.allocate(arena);
            UcpWorker child = thread.submit(() -> context.createWorker(new UcpWorkerParams())).get();
            UcpEndpoint client = connect(listener.localAddress());
            loop.until("a request", () -> !requests.isEmpty());
            UcpConnectionRequest request = requests.remove();
            UcpEndpoint accepted = thread.submit(() -> child.accept(request, (e, status) -> { })).get();
            long flush = client.flushNbx(param);
            loop.until("the connection", () -> {
                try {
                    thread.submit(() -> child.progress()).get();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                return !UcsStatus.isRequest(flush) || UcpRequest.checkStatus(flush) != UcsStatus.INPROGRESS;
            });
            assertEquals(UcsStatus.OK, loop.status("flushing", flush));
            assertEquals(client.localAddress(), thread.submit(() -> accepted.remoteAddress()).get());
            thread.submit(child::close).get();
        }
    }

    @Test
    void anAddressInUseIsBusyAndAForeignOneAnError() throws UcxException {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        InetSocketAddress used = listener.localAddress();
        UcxException e = assertThrows(UcxException.class, () -> clientWorker.listen(used, requests::add));
        assertEquals(UcsStatus.ERR_BUSY, e.status());
        assertTrue(e.getMessage().contains(used.toString()), e::getMessage);
        // TEST-NET-1: nobody's.
        e = assertThrows(UcxException.class,
                () -> serverWorker.listen(new InetSocketAddress("192.0.2.1", 0), requests::add));
        assertEquals(UcsStatus.ERR_IO_ERROR, e.status());
    }

    @Test
    void theLocalSideIsBoundToWhatWasAskedFor() throws UcxException {
        UcpListener listener = serverWorker.listen(ConnectedPair.loopback(0), requests::add);
        InetSocketAddress local = ConnectedPair.loopback(0);
        clientWorker.connect(listener.localAddress(), local, false, (e, status) -> errors.add(status));
        loop.until("a request", () -> !requests.isEmpty());
        assertEquals(local.getAddress(), requests.remove().clientAddress().getAddress());
        // TEST-NET-1: nobody's.
        InetSocketAddress foreign = new InetSocketAddress("192.0.2.1", 0);
        clientWorker.connect(listener.localAddress(), foreign, false, (e, status) -> errors.add(status));
        loop.until("the error", () -> !errors.isEmpty());
        assertEquals(List.of(UcsStatus.ERR_IO_ERROR), errors);
    }

    @Test
    void aListenerCanBeClosedTwiceButNotUsedAfterwards() throws UcxException {
        UcpListener listener = listenWhereNoConnectionIs();
        InetSocketAddress address = listener.localAddress();
        listener.close();
        listener.close();
        assertThrows(IllegalStateException.class, listener::localAddress);
        // And the port is free again.
        UcpListener again = serverWorker.listen(address, requests::add);
        assertEquals(address, again.localAddress());
    }

    /** Below the ports that the system gives to connections: nobody gets it by chance after it has been let go. */
    private UcpListener listenWhereNoConnectionIs() throws UcxException {
        SplittableRandom random = new SplittableRandom();
        for (int attempt = 1;; attempt++) {
            try {
                return serverWorker.listen(ConnectedPair.loopback(random.nextInt(10_000, 30_000)), requests::add);
            } catch (UcxException e) {
                // Somebody has it: the next one.
                assertEquals(UcsStatus.ERR_BUSY, e.status());
                assertTrue(attempt < 100, "there is no free port");
            }
        }
    }

    @Test
    void aWildcardAddressListensOnLoopbackToo() throws UcxException {
        UcpListener listener = serverWorker.listen(new InetSocketAddress("0.0.0.0", 0), requests::add);
        assertTrue(listener.localAddress().getAddress().isAnyLocalAddress());
        connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.localAddress().getPort()));
        loop.until("a request", () -> !requests.isEmpty());
        assertFalse(requests.remove().isTaken());
        assertNotEquals(0, listener.pendingRequests());
    }

    private UcpEndpoint connect(InetSocketAddress address) throws UcxException {
        return clientWorker.connect(address, null, false, (endpoint, status) -> errors.add(status));
    }
}
