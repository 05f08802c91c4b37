// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** UCX ends the process for some of these messages; a listener keeps them from it. */
@Tag("ucx-matrix")
class ConnectMessageTest {

    /** Length and status, before the message. */
    private static final int HEADER = 16;
    private static final int BATCH = 20;
    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", 4711);

    private final Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
    private final List<String> turnedAway = new ArrayList<>();
    private final AtomicInteger repeated = new AtomicInteger();
    private boolean errorHandlingRequired;
    private UcpContext context;
    private UcpWorker worker;
    private UcpListener listener;
    private Loop loop;

    @BeforeEach
    void listen() throws UcxException {
        context = Lanes.TCP.context(UcpFeature.TAG, UcpFeature.STREAM);
        worker = context.createWorker(new UcpWorkerParams());
        listener = worker.listen(ConnectedPair.loopback(0), new ConnectionHandler() {
            @Override
            public void onConnectionRequest(UcpConnectionRequest request) {
                requests.add(request);
            }

            @Override
            public boolean isErrorHandlingRequired() {
                return errorHandlingRequired;
            }

            @Override
            public void onUnintelligibleRequest(String problem) {
                turnedAway.add(problem);
            }

            @Override
            public void onRepeatedMessage() {
                repeated.incrementAndGet();
            }
        });
        loop = new Loop(worker);
    }

    @AfterEach
    void close() {
        listener.close();
        worker.close();
        context.close();
    }

    /** What UCX itself sends when it connects. */
    private byte[] realMessage() throws Exception {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(ConnectedPair.loopback(0));
            CompletableFuture<byte[]> message = CompletableFuture.supplyAsync(() -> {
                try (Socket client = socket.accept()) {
                    byte[] header = client.getInputStream().readNBytes(HEADER);
                    int length = ByteBuffer.wrap(header).order(ByteOrder.nativeOrder()).getInt();
                    return client.getInputStream().readNBytes(length);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            UcpWorker client = context.createWorker(new UcpWorkerParams().clientId(42));
            client.connect((InetSocketAddress) socket.getLocalSocketAddress(), null, true, (e, status) -> { });
            new Loop(client).until("a message", message::isDone);
            client.close();
            return message.get();
        }
    }

    private static byte[] framed(byte[] message) {
        return ByteBuffer.allocate(HEADER + message.length).order(ByteOrder.nativeOrder())
                .putLong(message.length).putLong(0).put(message).array();
    }

    private Socket send(byte[]... messages) throws IOException {
        InetSocketAddress address = listener.localAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        for (byte[] message : messages) {
            socket.getOutputStream().write(message);
        }
        return socket;
    }

    private void rejectAll() throws UcxException {
        for (UcpConnectionRequest request = requests.poll(); request != null; request = requests.poll()) {
            if (!request.isTaken()) {
                listener.reject(request);
            }
        }
    }

    @Test
    void whatUcxSendsIsTaken() throws Exception {
        byte[] real = realMessage();
        assertNull(new ConnectMessage(real, true).problem());
        try (Socket socket = send(framed(real))) {
            loop.until("a request", () -> !requests.isEmpty());
            assertEquals(42, requests.element().clientId());
            assertEquals(socket.getLocalPort(), requests.element().clientAddress().getPort());
            rejectAll();
        }
        assertEquals(List.of(), turnedAway);
    }

    @Test
    void aClientCannotChooseAnErrorHandlingThatCrashesUcx() throws Exception {
        byte[] failover = realMessage();
        // UCP_ERR_HANDLING_MODE_FAILOVER of UCX 1.22, beside that for peers.
        failover[8] |= 2;
        assertEquals("error handling of mode 3", new ConnectMessage(failover, false).problem());
        try (Socket socket = send(framed(failover))) {
            loop.until("the refusal", () -> !turnedAway.isEmpty());
            assertReset(socket);
        }
        assertEquals(List.of(), List.copyOf(requests));
    }

    @Test
    void aClientWithoutErrorHandlingIsTakenOnlyWhereItMayBe() throws Exception {
        byte[] careless = realMessage();
        careless[8] &= ~1;
        assertNull(new ConnectMessage(careless, false).problem());
        assertEquals("error handling of mode 0", new ConnectMessage(careless, true).problem());
        errorHandlingRequired = true;
        try (Socket socket = send(framed(careless))) {
            loop.until("the refusal", () -> !turnedAway.isEmpty());
            assertReset(socket);
        }
        assertEquals(List.of(), List.copyOf(requests));
    }

    @Test
    void everyTruncationIsTooShort() throws Exception {
        byte[] real = realMessage();
        for (int length = 0; length < real.length; length++) {
            assertNotNull(new ConnectMessage(Arrays.copyOf(real, length), false).problem(), "of " + length + " bytes");
        }
    }

    @Test
    void theWalkStaysInsideTheMessageAndEnds() {
        SplittableRandom random = new SplittableRandom(SEED);
        int accepted = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[random.nextInt(300)];
            random.nextBytes(bytes);
            if (bytes.length > 9 && random.nextBoolean()) {
                bytes[8] = 0x21;
                bytes[9] = 0x40;
            }
            // Must neither throw nor run for ever.
            accepted += new ConnectMessage(bytes, false).problem() == null ? 1 : 0;
        }
        assertTrue(accepted < 20_000, accepted + " of 200,000 random messages are taken");
    }

    @Test
    void junkInAnEnvelopeIsTurnedAwayAndNotReadByUcx() throws Exception {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int batch = 0; batch < 15; batch++) {
            List<Socket> sockets = new ArrayList<>();
            int before = turnedAway.size();
            for (int i = 0; i < BATCH; i++) {
                byte[] junk = new byte[random.nextInt(200)];
                random.nextBytes(junk);
                if (junk.length > 9) {
                    // Each version that an address could claim to have, behind data that is in order.
                    junk[8] = 0x21;
                    junk[9] = (byte) (0x40 | 2 + random.nextInt(14));
                }
                sockets.add(send(framed(junk)));
            }
            loop.until("the refusals", () -> turnedAway.size() + requests.size() >= before + BATCH);
            Set<Integer> taken = requests.stream().map(request -> request.clientAddress().getPort())
                    .collect(Collectors.toSet());
            rejectAll();
            for (Socket socket : sockets) {
                if (taken.contains(socket.getLocalPort())) {
                    assertClosedByTheListener(socket);
                } else {
                    assertReset(socket);
                }
            }
        }
        System.out.println("seed " + SEED + ": " + turnedAway.size() + " of 300 messages were turned away");
        assertTrue(turnedAway.size() > 270, () -> "turned away: " + turnedAway);
        whatUcxSendsIsStillTaken();
    }

    /** Without a rejection of UCX's, which would be 16 bytes: that is what shows that it was reset before. */
    private void assertReset(Socket socket) throws IOException {
        try (socket) {
            socket.setSoTimeout(10_000);
            SocketException reset =
                    assertThrows(SocketException.class, () -> socket.getInputStream().readAllBytes());
            assertTrue(reset.getMessage().contains("reset"), reset::toString);
        }
    }

    private void assertClosedByTheListener(Socket socket) throws IOException {
        try (socket) {
            socket.setSoTimeout(10_000);
            // UCX's rejection, and the end; or a reset, because it has not read everything.
            socket.getInputStream().readAllBytes();
        } catch (SocketException e) {
            assertTrue(e.getMessage().contains("reset"), e::toString);
        }
    }

    /** At once, or soon if UCX has not noticed yet. */
    private void assertNotAcceptable(UcpConnectionRequest request) throws Exception {
        AtomicInteger failed = new AtomicInteger();
        UcpEndpoint endpoint;
        try {
            endpoint = worker.accept(request, (e, status) -> failed.incrementAndGet());
        } catch (UcxException e) {
            assertEquals(UcsStatus.ERR_CONNECTION_RESET, e.status());
            return;
        }
        loop.until("the failure of the endpoint", () -> failed.get() > 0);
        endpoint.close();
    }

    private void whatUcxSendsIsStillTaken() throws Exception {
        int before = turnedAway.size();
        try (Socket socket = send(framed(realMessage()))) {
            loop.until("a request", () -> !requests.isEmpty());
            rejectAll();
        }
        assertEquals(before, turnedAway.size());
    }

    @Test
    void aSecondMessageBeforeTheFirstIsAcceptedEndsTheConnection() throws Exception {
        byte[] real = framed(realMessage());
        for (int i = 1; i <= 50; i++) {
            try (Socket socket = send(real)) {
                loop.until("a request", () -> !requests.isEmpty());
                socket.getOutputStream().write(real);
                assertReset(socket);
                UcpConnectionRequest request = requests.remove();
                if (i % 2 == 0) {
                    listener.reject(request);
                } else {
                    assertNotAcceptable(request);
                }
            }
            assertEquals(i, repeated.get());
        }
        assertEquals(List.of(), List.copyOf(requests), "requests of the second messages");
        assertEquals(0, listener.pendingRequests());
        whatUcxSendsIsStillTaken();
    }

    /**
     * UCX takes the client's connection off a list for each of its messages, with the neighbours it had at the first one.
     * Here the list's end is one of them: whoever has come meanwhile would be lost from the list, and never be closed.
     */
    @Test
    void aSecondMessageLeavesTheConnectionsOfOthersAlone() throws Exception {
        byte[] real = framed(realMessage());
        try (Socket repeating = send(real)) {
            loop.until("a request", () -> !requests.isEmpty());
            try (Socket silent = send(); Socket third = send(real)) {
                // UCX has accepted the silent one before, as they came.
                loop.until("another request", () -> requests.size() > 1);
                repeating.getOutputStream().write(real);
                assertReset(repeating);
                listener.close();
                worker.close();
                silent.setSoTimeout(10_000);
                assertEquals(-1, silent.getInputStream().read(), "what the end of the worker brings to the silent client");
            }
        }
    }
}
