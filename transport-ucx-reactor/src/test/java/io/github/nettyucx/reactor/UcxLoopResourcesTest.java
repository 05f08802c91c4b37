// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.github.nettyucx.channel.UcxDatagramChannel;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which loops and channels Reactor Netty gets, and when they end. */
@Timeout(120)
class UcxLoopResourcesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final UcxLoopResources ucx = UcxLoopResources.create("test", 1, 2, true, true, UcxWaitStrategy.PARK);

    @AfterEach
    void dispose() {
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    @Test
    void channelsAreThoseOfTheGroup() {
        for (EventLoopGroup group : new EventLoopGroup[] {
            ucx.onServer(true), ucx.onServerSelect(true), ucx.onClient(true)}) {
            assertSame(UcxSocketChannel.class, ucx.onChannelClass(SocketChannel.class, group));
            assertSame(UcxServerSocketChannel.class, ucx.onChannelClass(ServerSocketChannel.class, group));
            assertSame(UcxSocketChannel.class, ucx.onChannel(SocketChannel.class, group).getClass());
            assertSame(UcxServerSocketChannel.class, ucx.onChannel(ServerSocketChannel.class, group).getClass());
            assertSame(UcxDatagramChannel.class, ucx.onChannelClass(DatagramChannel.class, group));
            UcxDatagramChannel datagrams =
                    assertInstanceOf(UcxDatagramChannel.class, ucx.onChannel(DatagramChannel.class, group));
            datagrams.unsafe().closeForcibly();
        }
        EventLoopGroup nio = ucx.onClient(false);
        assertSame(NioSocketChannel.class, ucx.onChannelClass(SocketChannel.class, nio));
        assertSame(NioDatagramChannel.class, ucx.onChannelClass(DatagramChannel.class, nio));
    }

    @Test
    void groupsAreMadeOnce() {
        UcxEventLoopGroup workers = assertInstanceOf(UcxEventLoopGroup.class, ucx.onServer(true));
        assertEquals(2, workers.executorCount());
        assertSame(workers, ucx.onServer(true));
        assertSame(ucx.onServerSelect(true), ucx.onServerSelect(true));
        assertNotSame(workers, ucx.onServerSelect(true));
        assertSame(ucx.onClient(true), ucx.onClient(true));
        assertInstanceOf(NioEventLoopGroup.class, ucx.onServer(false));
        assertSame(ucx.onServer(false), ucx.onServer(false));
    }

    @Test
    void withoutSelectLoopsTheWorkersAccept() {
        UcxLoopResources other = UcxLoopResources.create("other", 1, true);
        assertSame(other.onServer(true), other.onServerSelect(true));
        other.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    /** What a client makes in a loop's thread stays on this loop. */
    @Test
    void clientsStayOnTheLoopTheyAreUsedOn() throws Exception {
        EventLoopGroup clients = ucx.onClient(true);
        for (var executor : ucx.onServer(true)) {
            assertSame(executor, executor.submit(() -> clients.next()).get());
        }
    }

    @Test
    void otherKindsOfChannelsAreRefused() {
        EventLoopGroup group = ucx.onClient(true);
        String message = assertThrows(IllegalArgumentException.class,
                () -> ucx.onChannel(DomainSocketChannel.class, group)).getMessage();
        assertTrue(message.contains("UCX has no DomainSocketChannel"), message);
        assertThrows(IllegalArgumentException.class, () -> ucx.onChannelClass(DomainSocketChannel.class, group));
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> UcxLoopResources.create(""));
        assertThrows(IllegalArgumentException.class, () -> UcxLoopResources.create("x", 0, true));
        assertThrows(IllegalArgumentException.class,
                () -> UcxLoopResources.create("x", 0, 1, true, true, UcxWaitStrategy.PARK));
    }

    @Test
    void disposingEndsAllLoops() {
        EventLoopGroup workers = ucx.onServer(true);
        EventLoopGroup selectors = ucx.onServerSelect(true);
        EventLoopGroup clients = ucx.onClient(true);
        EventLoopGroup nio = ucx.onServer(false);
        DisposableServer server = TcpServer.create().runOn(ucx).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
                .handle((in, out) -> Mono.never()).bindNow(PATIENCE);
        Connection client = TcpClient.create().runOn(ucx).remoteAddress(server::address).connectNow(PATIENCE);
        assertFalse(ucx.isDisposed());
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        assertTrue(ucx.isDisposed());
        for (EventLoopGroup group : new EventLoopGroup[] {workers, selectors, clients, nio}) {
            assertTrue(group.isTerminated(), group::toString);
        }
        assertFalse(server.channel().isOpen());
        assertFalse(client.channel().isOpen());
        // Once more is no error.
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    /** As with Reactor's own, the time is what the loops have, and not whoever waits for them. */
    @Test
    void theEndOfALoopThatIsBusyIsWaitedFor() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        EventLoopGroup workers = ucx.onServer(true);
        workers.submit(() -> busy.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        CompletableFuture<Void> end = ucx.disposeLater(Duration.ZERO, Duration.ZERO).toFuture();
        assertThrows(TimeoutException.class, () -> end.get(300, TimeUnit.MILLISECONDS));
        busy.countDown();
        end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertTrue(workers.isTerminated());
    }

    /** Also by whoever comes second, though Reactor's own loops wait only for who is first. */
    @Test
    void soIsThatOfALoopOfNio() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        EventLoopGroup nio = ucx.onServer(false);
        nio.submit(() -> busy.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        CompletableFuture<Void> first = ucx.disposeLater(Duration.ZERO, PATIENCE).toFuture();
        CompletableFuture<Void> second = ucx.disposeLater(Duration.ZERO, PATIENCE).toFuture();
        assertThrows(TimeoutException.class, () -> second.get(300, TimeUnit.MILLISECONDS));
        assertFalse(first.isDone());
        busy.countDown();
        first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        second.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertTrue(nio.isTerminated());
    }

    @Test
    void nothingIsMadeAfterwards() {
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        String message = assertThrows(IllegalStateException.class, () -> ucx.onServer(true)).getMessage();
        assertTrue(message.contains("has been disposed"), message);
    }

    @Test
    void threadsThatMustNotBlockAreKnownToReactor() {
        Throwable refusal = ucx.onServer(true).submit(() -> assertThrows(IllegalStateException.class,
                () -> Mono.never().block(PATIENCE))).syncUninterruptibly().getNow();
        assertTrue(refusal.getMessage().contains("which is not supported in thread test-ucx-"), refusal::getMessage);
    }

    @Test
    void namesOfTheHostsFile() {
        DisposableServer server = TcpServer.create().runOn(ucx).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
                .handle((in, out) -> Mono.never()).bindNow(PATIENCE);
        TcpClient client = TcpClient.create().runOn(ucx).host("localhost").port(server.port());
        for (TcpClient each : new TcpClient[] {
            client, client.resolver(DefaultAddressResolverGroup.INSTANCE),
            client.resolver(spec -> spec.runOn(ucx, false))}) {
            Connection connection = each.connectNow(PATIENCE);
            assertInstanceOf(UcxSocketChannel.class, connection.channel());
            connection.disposeNow(PATIENCE);
        }
        server.disposeNow(PATIENCE);
    }

    @Test
    void namesOfTheDns() throws Exception {
        DisposableServer server = TcpServer.create().runOn(ucx).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
                .handle((in, out) -> Mono.never()).bindNow(PATIENCE);
        try (NameServer names = new NameServer("node7.cluster.example.", InetAddress.getByName("127.0.0.1"))) {
            Connection connection = TcpClient.create().host("node7.cluster.example").port(server.port())
                    .resolver(spec -> spec.dnsAddressResolverGroupProvider(builder -> new DnsAddressResolverGroup(
                            builder.nameServerProvider(new SingletonDnsServerAddressStreamProvider(names.address())))))
                    .runOn(ucx).connectNow(PATIENCE);
            assertInstanceOf(UcxSocketChannel.class, connection.channel());
            connection.disposeNow(PATIENCE);
            assertTrue(names.questions() > 0);
        }
        server.disposeNow(PATIENCE);
    }
}
