// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A channel whose connect fails is closed, and nothing of it stays with its loop. A bootstrap closes it in any case; an
 * application that connects without one, as gRPC does, does not.
 */
@Timeout(60)
class FailedConnectTest {

    private static final int MILLIS = (int) TimeUnit.SECONDS.toMillis(15);

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** Why a connect comes to nothing. */
    private enum Failure {
        REFUSED {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                try (Socket nobody = boundOnly()) {
                    test.assertClosedBy(test.ours(UcxConnectMode.UCX), nobody.getLocalSocketAddress());
                }
            }
        },
        REFUSED_AS_AN_ORDINARY_ONE {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                try (Socket nobody = boundOnly()) {
                    test.assertClosedBy(test.ours(UcxConnectMode.PLAIN), nobody.getLocalSocketAddress());
                }
            }
        },
        /** The kernel knows at once that a link-local address without a scope cannot be connected to. */
        FAILED_AT_ONCE {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                assumeTrue(KernelSocket.isIpv6Available(), "a machine without IPv6 has no link-local address");
                test.assertClosedBy(test.ours(UcxConnectMode.UCX),
                        new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 4711));
            }
        },
        HUNG_UP {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                try (ServerSocket server = listening()) {
                    var served = CompletableFuture.runAsync(() -> accept(server, null));
                    test.assertClosedBy(test.ours(UcxConnectMode.UCX), server.getLocalSocketAddress());
                    served.get(MILLIS, TimeUnit.MILLISECONDS);
                }
            }
        },
        ANOTHER_PROGRAM {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                try (ServerSocket server = listening()) {
                    var served = CompletableFuture.runAsync(() -> accept(server, "HTTP/1.1 400 Bad Request\r\n\r\n"));
                    test.assertClosedBy(test.ours(UcxConnectMode.UCX), server.getLocalSocketAddress());
                    served.get(MILLIS, TimeUnit.MILLISECONDS);
                }
            }
        },
        SILENT {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                try (ServerSocket server = listening()) {
                    test.assertClosedBy(test.ours(UcxConnectMode.UCX)
                            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 50), server.getLocalSocketAddress());
                }
            }
        },
        /** An ordinary server, announced as one of this transport, that has gone when it is to be asked as what it is. */
        GONE_BEFORE_THE_SECOND_ATTEMPT {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                ServerSocket server = listening();
                InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
                try (Announcement forged = Announcement.open(address)) {
                    CountDownLatch waiting = new CountDownLatch(1);
                    // By a thread that is there already: who does not answer for long is given up, and no other attempt fails.
                    var served = CompletableFuture.runAsync(() -> {
                        waiting.countDown();
                        acceptTheLast(server);
                    }, Thread.ofPlatform()::start);
                    assertTrue(waiting.await(MILLIS, TimeUnit.MILLISECONDS));
                    test.assertClosedBy(test.ours(UcxConnectMode.ANNOUNCED), address);
                    served.get(MILLIS, TimeUnit.MILLISECONDS);
                }
            }
        },
        DATAGRAMS_FAILED_AT_ONCE {
            @Override
            void meet(FailedConnectTest test) throws Exception {
                assumeTrue(KernelSocket.isIpv6Available(), "a machine without IPv6 has no link-local address");
                test.assertClosedBy(new Bootstrap().group(test.peers.clientGroup).channel(UcxDatagramChannel.class)
                        .handler(new Inbox()), new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 4711));
            }
        };

        abstract void meet(FailedConnectTest test) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void theChannelIsClosed(Failure failure) throws Exception {
        failure.meet(this);
        EventLoop loop = TestLoops.first(peers.clientGroup);
        Eventually.await(MILLIS, () -> LoopState.of(peers.clientGroup, 0).toString(),
                () -> loop.submit(() -> TestLoops.driver(loop).channelCount()).get() == 0);
    }

    private Bootstrap ours(UcxConnectMode mode) {
        return peers.client(new Inbox()).option(UcxChannelOption.CONNECT_MODE, mode);
    }

    private void assertClosedBy(Bootstrap client, SocketAddress to) throws Exception {
        Channel channel = Peers.await(client.register()).channel();
        CompletableFuture<Void> removed = new CompletableFuture<>();
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                removed.completeExceptionally(new AssertionError("it has never been active"));
            }

            @Override
            public void handlerRemoved(ChannelHandlerContext ctx) {
                removed.complete(null);
            }
        });
        CompletableFuture<Boolean> openWhenTold = new CompletableFuture<>();
        ByteBuf early = Unpooled.copiedBuffer("early", StandardCharsets.ISO_8859_1);
        ChannelFuture[] begun = new ChannelFuture[2];
        Peers.await(channel.eventLoop().submit(() -> {
            begun[0] = channel.connect(to).addListener((ChannelFutureListener) done ->
                    openWhenTold.complete(done.channel().isOpen()));
            begun[1] = channel.writeAndFlush(early);
        }));
        Throwable cause = Peers.awaitFailure(begun[0]);
        assertInstanceOf(IOException.class, cause);
        assertFalse(cause instanceof ClosedChannelException, cause::toString);
        assertFalse(openWhenTold.get(MILLIS, TimeUnit.MILLISECONDS), "open when the failure was told");
        Peers.await(channel.closeFuture());
        removed.get(MILLIS, TimeUnit.MILLISECONDS);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(channel.connect(to)));
        if (!(channel instanceof UcxDatagramChannel)) {
            Peers.awaitFailure(begun[1]);
        }
        assertEquals(0, early.refCnt());
    }

    @Test
    void connectsThatAreRefusedLeaveNothingWithTheLoop() throws Exception {
        EventLoop loop = TestLoops.first(peers.clientGroup);
        try (Socket nobody = boundOnly()) {
            for (int round = 0; round < 1000; round++) {
                Channel channel = new UcxSocketChannel();
                Peers.await(peers.clientGroup.register(channel));
                Peers.awaitFailure(channel.connect(nobody.getLocalSocketAddress()));
                int left = loop.submit(() -> TestLoops.driver(loop).channelCount()).get();
                assertTrue(left <= 1, () -> left + " channels of refused connects");
            }
        }
    }

    /** An address that no connect could begin with says nothing against the channel. */
    @Test
    void noMemoryIsOpenedOverAChannelThatIsNotConnected() throws Exception {
        UcxSocketChannel channel = new UcxSocketChannel();
        byte[] key = new byte[64];
        // Without a loop as well.
        assertInstanceOf(NotYetConnectedException.class, Peers.awaitFailure(channel.openMemory(key)));
        Peers.await(peers.clientGroup.register(channel));
        assertInstanceOf(NotYetConnectedException.class, Peers.awaitFailure(channel.openMemory(key)));
        Peers.await(channel.close());
    }

    @Test
    void aChannelThatCouldNotBeBoundIsNotClosed() throws Exception {
        Channel server = peers.listen(Inbox::new);
        Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
        Peers.awaitFailure(channel.connect(server.localAddress(), server.localAddress()));
        assertTrue(channel.isOpen());
        Peers.await(channel.connect(server.localAddress()));
        assertTrue(channel.isActive());
        Peers.await(channel.close());
    }

    /** Datagrams: what was active tells of its end. */
    @Test
    void aBoundChannelThatCannotBeConnectedTellsOfItsEnd() throws Exception {
        assumeTrue(KernelSocket.isIpv6Available(), "a machine without IPv6 has no link-local address");
        Inbox inbox = new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                // Not one of a socket.
            }
        };
        Channel channel = Peers.await(new Bootstrap().group(peers.clientGroup).channel(UcxDatagramChannel.class)
                .handler(inbox).bind(0)).channel();
        Peers.awaitFailure(channel.connect(new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 4711)));
        assertFalse(channel.isOpen());
        inbox.awaitInactive();
    }

    // ------------------------------------------------------------------------------------------- servers of another kind

    private static ServerSocket listening() throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"));
        server.setSoTimeout(MILLIS);
        return server;
    }

    /** On its port nobody listens, and nobody else can get it meanwhile. */
    private static Socket boundOnly() throws IOException {
        Socket socket = new Socket();
        socket.bind(Peers.loopback(0));
        return socket;
    }

    /** @param answer {@code null} to hang up at once */
    private static void accept(ServerSocket server, String answer) {
        try (Socket accepted = server.accept()) {
            if (answer != null) {
                accepted.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                accepted.getInputStream().transferTo(OutputStream.nullOutputStream());
            }
        } catch (IOException e) {
            throw new AssertionError("the server has failed", e);
        }
    }

    private static void acceptTheLast(ServerSocket server) {
        try (Socket accepted = server.accept()) {
            server.close();
            accepted.getInputStream().readNBytes(8);
        } catch (IOException e) {
            throw new AssertionError("the server has failed", e);
        }
    }
}
