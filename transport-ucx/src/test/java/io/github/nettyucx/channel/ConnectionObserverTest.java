// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A tool is told of each connection, from its opening to its end. */
class ConnectionObserverTest {

    /** @param opened otherwise closed */
    private record Told(UcxSocketChannel channel, boolean opened, boolean accepted, List<String> reasons, long sent) {
    }

    private final Queue<Told> told = new ConcurrentLinkedQueue<>();
    private Peers peers;

    @BeforeEach
    void observe() {
        ConnectionObserver.install(new ConnectionObserver() {
            @Override
            public void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons) {
                told.add(new Told(channel, true, accepted, reasons, 0));
            }

            @Override
            public void closed(UcxSocketChannel channel) {
                told.add(new Told(channel, false, false, List.of(), channel.metrics().bytesSent()));
            }
        });
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
        ConnectionMetrics.observer = null;
    }

    @Test
    void bothSidesAreTold() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(() -> child);
        UcxSocketChannel client = peers.connect(server, new Inbox());
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
        child.awaitText("hello");
        Peers.await(client.close());
        Eventually.await(15_000, told::toString, () -> told.stream().filter(each -> !each.opened).count() == 2);

        assertEquals(2, told.stream().filter(Told::opened).count(), told::toString);
        assertTrue(told.stream().anyMatch(each -> each.opened && each.channel == client && !each.accepted));
        assertTrue(told.stream().anyMatch(each -> each.opened && each.channel != client && each.accepted));
        assertTrue(told.stream().anyMatch(each -> !each.opened && each.channel == client && each.sent == 5));
    }

    /** As one that lets nobody in over some lane. */
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void oneThatClosesLeavesNothingBehind() throws Exception {
        Queue<UcxSocketChannel> closed = new ConcurrentLinkedQueue<>();
        ConnectionObserver.install(new ConnectionObserver() {
            @Override
            public void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons) {
                channel.config().setSoLinger(0);
                channel.close();
                closed.add(channel);
            }

            @Override
            public void closed(UcxSocketChannel channel) {
                // That is not what is tested.
            }
        });
        peers.client(new Inbox()).connect(peers.listen(Inbox::new).localAddress()).await();
        Eventually.await(15_000, closed::toString, () -> closed.size() == 2);
        for (UcxSocketChannel each : closed) {
            Peers.await(each.closeFuture());
            // When what has closed it has returned.
            Peers.await(each.eventLoop().submit(() -> { }));
            assertFalse(OrderlyExit.channels.contains(each));
        }
    }

    @Test
    void oneThatThrowsHarmsNobody() throws Exception {
        ConnectionObserver.install(new ConnectionObserver() {
            @Override
            public void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons) {
                told.add(new Told(channel, true, accepted, reasons, 0));
                throw new IllegalStateException("an opening is not told, as the test wants it");
            }

            @Override
            public void closed(UcxSocketChannel channel) {
                told.add(new Told(channel, false, false, List.of(), 0));
                throw new IllegalStateException("an end is not told, as the test wants it");
            }
        });
        Inbox child = new Inbox();
        UcxSocketChannel client = peers.connect(peers.listen(() -> child), new Inbox());
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
        child.awaitText("hello");
        UcxSocketChannel accepted = child.awaitActive();
        Peers.await(client.close());
        Peers.await(accepted.closeFuture());
        Eventually.await(15_000, told::toString, () -> told.size() == 4);
        for (UcxSocketChannel each : List.of(client, accepted)) {
            Eventually.await(15_000, () -> each + " keeps its socket", () -> each.config().socketOptions().socket() == null);
        }
    }

    @Test
    void whyThereWasNoHandshakeIsAReason() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(Peers.loopback(0));
            Peers.await(peers.client(new Inbox()).option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .connect(server.getLocalSocketAddress()));
            // When the server has gone, the connection ends, which is told as well.
            assertEquals(1, told.size(), told::toString);
            List<String> reasons = told.element().reasons;
            assertTrue(reasons.size() == 1 && reasons.getFirst().contains("has not announced"), reasons::toString);
        }
    }
}
