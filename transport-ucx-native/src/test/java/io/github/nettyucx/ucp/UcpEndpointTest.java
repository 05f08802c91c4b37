// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpEndpointTest {

    @ParameterizedTest
    @EnumSource
    void bothSidesKnowTheirAddressesAndTransports(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG)) {
            InetSocketAddress listening = pair.listener.localAddress();
            assertTrue(listening.getPort() > 0);
            assertEquals(listening, pair.client.remoteAddress());
            assertEquals(pair.client.localAddress(), pair.server.remoteAddress());
            assertEquals(pair.client.localAddress(), pair.request.clientAddress());
            assertEquals(ConnectedPair.CLIENT_ID, pair.request.clientId());

            Set<String> transports = pair.client.transports().stream()
                    .map(UcpEndpoint.Transport::name)
                    .collect(Collectors.toSet());
            switch (lanes) {
                case TCP -> assertEquals(Set.of("tcp"), transports);
                case SHARED_MEMORY -> assertTrue(
                        transports.contains("posix") || transports.contains("sysv"), transports::toString);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPeerThatClosesIsReportedOnce(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG)) {
            assertEquals(UcsStatus.OK, pair.server.failure());
            pair.client.close();
            pair.loop.until("the server's error", () -> !pair.serverErrors.isEmpty());
            for (int i = 0; i < 1000; i++) {
                pair.loop.progress();
            }
            assertEquals(1, pair.serverErrors.size());
            assertEquals(pair.serverErrors.getFirst(), pair.server.failure());
            assertTrue(Set.of(UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT)
                    .contains(pair.server.failure()), () -> UcsStatus.name(pair.server.failure()));
            assertEquals(List.of(), pair.clientErrors, "who closes is not told");
        }
    }

    @Test
    void aForcedCloseCancelsWhatIsInProgress() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(20_000_000);
            long send = UcpTag.sendNbx(pair.client.address(), buffer.address(), buffer.byteSize(), 1,
                    UcpRequestParam.allocate(arena));
            assertEquals(UcsStatus.INPROGRESS, UcpRequest.checkStatus(send));
            assertEquals(UcsStatus.OK, pair.loop.status("closing", pair.client.closeNbx(true)));
            assertEquals(UcsStatus.ERR_CANCELED, pair.loop.status("sending", send));
        }
    }

    @Test
    void aFlushingCloseSendsEverythingFirst() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            MemorySegment sent = Bytes.random(arena, 6000);
            MemorySegment received = arena.allocate(6000);
            long receive =
                    UcpTag.receiveNbx(pair.serverWorker.address(), received.address(), 6000, 1, -1L, param);
            long send = UcpTag.sendNbx(pair.client.address(), sent.address(), 6000, 1, param);
            assertEquals(UcsStatus.OK, pair.loop.status("closing", pair.client.closeNbx(false)));
            assertEquals(UcsStatus.OK, pair.loop.status("sending", send));
            assertEquals(UcsStatus.OK, pair.loop.status("receiving", receive));
            assertEquals(-1, sent.mismatch(received));
        }
    }

    @Test
    void anEndpointCanBeClosedTwiceButNotUsedAfterwards() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG)) {
            long id = pair.client.id();
            assertSame(pair.client, UcpEndpoint.of(id));
            pair.client.close();
            pair.client.close();
            assertEquals(UcsStatus.OK, pair.client.closeNbx(true));
            assertTrue(pair.client.isClosed());
            assertNull(UcpEndpoint.of(id));
            assertThrows(IllegalStateException.class, pair.client::address);
            assertThrows(IllegalStateException.class, pair.client::localAddress);
            assertThrows(IllegalStateException.class, pair.client::transports);
            assertThrows(IllegalStateException.class, () -> pair.client.unpackRemoteKey(new byte[8]));
        }
    }

    @Test
    void anEndpointWithoutErrorHandlingCannotBeForced() throws UcxException {
        try (WorkerPair pair = new WorkerPair(Lanes.TCP, UcpFeature.TAG)) {
            assertEquals(UcsStatus.ERR_INVALID_PARAM, pair.endpoint.closeNbx(true));
            assertThrows(UcxException.class, pair.endpoint::localAddress, "it has no socket address either");
        }
    }

    @Test
    void anEndpointNeedsExactlyOneTarget() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.TAG);
                UcpWorker worker = context.createWorker(new UcpWorkerParams())) {
            assertThrows(IllegalStateException.class, () -> worker.createEndpoint(new UcpEndpointParams()));
            UcpEndpointParams both = new UcpEndpointParams()
                    .workerAddress(worker.queryAddress())
                    .remoteAddress(ConnectedPair.loopback(1));
            assertThrows(IllegalStateException.class, () -> worker.createEndpoint(both));
        }
    }

    @Test
    void anErrorHandlerThatThrowsIsLogged() throws Exception {
        try (RefusingPort port = new RefusingPort();
                UcpContext context = Lanes.TCP.context(UcpFeature.TAG);
                UcpWorker worker = context.createWorker(new UcpWorkerParams());
                LogCapture log = new LogCapture()) {
            UcpEndpoint endpoint = worker.connect(port.address(), null, false, (e, status) -> {
                throw new IllegalStateException("thrown on purpose");
            });
            new Loop(worker).until("the refusal", () -> endpoint.failure() != UcsStatus.OK);
            assertEquals(List.of("An endpoint's error handler failed: thrown on purpose"), log.messages());
        }
    }
}
