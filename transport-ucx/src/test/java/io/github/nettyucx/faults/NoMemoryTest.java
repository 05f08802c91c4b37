// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.LeakWatch;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.OwnJvm;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxConnectMode;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Tag;

import java.net.ConnectException;
import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Memory is short: the connection that needs it fails with an error that says so, and the loop serves the others. */
@Tag("faults")
@Tag("in-every-build")
@OwnJvm
class NoMemoryTest {

    private static final long SEED = 7;
    private static final int LARGE = 200_000;
    private static final int SMALL = 100;

    @OnEachLane(timeoutSeconds = 120)
    void aChannelWithoutMemoryFailsAlone() throws Exception {
        LeakWatch leaks = new LeakWatch();
        ScarceAllocator scarce = new ScarceAllocator(leaks.allocator);
        EventLoopGroup group = TestLoops.newGroup(1);
        EventLoopGroup other = TestLoops.newGroup(1);
        try (Pulse pulse = new Pulse(group)) {
            Channel server = Peers.await(new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOCATOR, scarce)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Reader());
                        }
                    }).bind(Peers.loopback(0))).channel();
            for (int round = 0; round < 1 + Faults.times(2, 20); round++) {
                if (round == 1) {
                    // In the first the classes of failures are loaded, on the loop.
                    pulse.judge();
                }
                handshake(group, other, server, scarce);
                read(other, server, scarce);
                paused(other, server, scarce);
                pulse.awaitBeats();
            }
            Faults.report("no memory: lane %s: handshakes on both sides and reads failed with the reason, paused"
                    + " channels kept their bytes, and new connections worked after each; %s", Lane.current(),
                    pulse.check());
        } finally {
            Peers.await(other.shutdownGracefully(0, 10, TimeUnit.SECONDS));
            Peers.await(group.shutdownGracefully(0, 10, TimeUnit.SECONDS));
        }
        leaks.assertNothingLeft();
    }

    /** Not even this process's next connect: nothing has been learnt of the server. */
    @OnEachLane(timeoutSeconds = 120, linksOnly = true)
    void aClientWithoutMemoryDoesNotTakeTheServerForAnOrdinaryOne() throws Exception {
        LeakWatch leaks = new LeakWatch();
        ScarceAllocator scarce = new ScarceAllocator(leaks.allocator);
        EventLoopGroup group = TestLoops.newGroup(1);
        EventLoopGroup other = TestLoops.newGroup(1);
        try {
            Channel server = Peers.await(new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new ChannelInboundHandlerAdapter());
                        }
                    }).bind(Peers.loopback(0))).channel();
            scarce.setScarce(true);
            Throwable failed = Peers.awaitFailure(client(other).option(ChannelOption.ALLOCATOR, scarce)
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED).connect(server.localAddress()));
            assertTrue(failed.getMessage().contains("no memory for the handshake"), failed::toString);
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(client(other)
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .connect(server.localAddress())).channel();
            assertTrue(Lane.current().has(channel.lane()), channel::lane);
            Peers.await(channel.close());
        } finally {
            Peers.await(other.shutdownGracefully(0, 10, TimeUnit.SECONDS));
            Peers.await(group.shutdownGracefully(0, 10, TimeUnit.SECONDS));
        }
        leaks.assertNothingLeft();
    }

    private static Bootstrap client(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
    }

    private static void handshake(EventLoopGroup group, EventLoopGroup other, Channel server,
                                  ScarceAllocator scarce) throws Exception {
        scarce.setScarce(true);
        // The server's side has no memory, and then the connecting side on the same loop.
        assertInstanceOf(ConnectException.class, Peers.awaitFailure(client(other).connect(server.localAddress())));
        Throwable failed = Peers.awaitFailure(client(group).option(ChannelOption.ALLOCATOR, scarce)
                .connect(server.localAddress()));
        // Which of the two notices first is open.
        assertTrue(failed instanceof ConnectException || failed.getMessage().contains(ScarceAllocator.MESSAGE),
                failed::toString);
        scarce.setScarce(false);
        Peers.await(Peers.await(client(other).connect(server.localAddress())).channel().close());
    }

    private static void read(EventLoopGroup other, Channel server, ScarceAllocator scarce) throws Exception {
        Channel client = connect(other, server);
        Reader reader = Reader.of(client);
        scarce.setScarce(true);
        client.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
        assertInstanceOf(OutOfMemoryError.class, reader.exception.get(15, TimeUnit.SECONDS));
        Peers.await(reader.channel.closeFuture());
        Peers.await(client.closeFuture());
        scarce.setScarce(false);
    }

    private static void paused(EventLoopGroup other, Channel server, ScarceAllocator scarce) throws Exception {
        Channel client = connect(other, server);
        Reader reader = Reader.of(client);
        reader.channel.config().setAutoRead(false);
        // Behind what the loop still has to do for that.
        reader.channel.eventLoop().submit(() -> { }).get();
        int refusals = scarce.refusals();
        scarce.setScarce(true);
        SeededBytes bytes = new SeededBytes(SEED);
        int messages = 100;
        for (int i = 0; i < messages; i++) {
            // One after the other, or they would be few messages of UCX.
            Peers.await(client.writeAndFlush(Unpooled.wrappedBuffer(bytes.at((long) i * SMALL, SMALL))));
        }
        // A socket keeps what nobody reads by itself.
        if (Lane.current().isLink()) {
            Eventually.await(15_000, () -> "no message asks for memory", () -> scarce.refusals() > refusals);
        }
        scarce.setScarce(false);
        reader.channel.config().setAutoRead(true);
        Eventually.await(15_000, () -> "bytes that came while there was no memory are lost",
                () -> reader.position >= messages * SMALL);
        Peers.await(client.close());
    }

    private static Channel connect(EventLoopGroup group, Channel server) throws InterruptedException {
        return Peers.await(client(group).connect(server.localAddress())).channel();
    }

    @OnEachLane(timeoutSeconds = 120)
    void aProcessWithoutDirectMemoryRecovers() throws Exception {
        try (Child echo = Child.start(EchoMain.class); Child child = Child.start(List.of(),
                List.of("-XX:MaxDirectMemorySize=24m"), NoDirectMemoryMain.class, echo.awaitPort())) {
            String write = child.await("write");
            String connect = child.await("connect");
            String close = child.await("close");
            assertTrue(write.contains("OutOfMemoryError"), write);
            assertTrue(connect.contains("no memory for the handshake"), connect);
            assertEquals("done", close);
            String owner = child.await("owner");
            String asker = child.await("asker");
            String again = child.await("again");
            if (Lane.current().isLink()) {
                assertTrue(owner.startsWith("no memory for a message"), owner);
                assertTrue(asker.contains("reset"), asker);
                assertEquals("success", again);
            }
            child.await("recovered");
            Faults.report("no direct memory: lane %s: a write failed with '%s', a connect with '%s', a close ended; a"
                    + " connection to whose peer's memory something was asked ended, as its owner was told with '%s';"
                    + " afterwards the same loops connected, echoed and answered", Lane.current(), write, connect, owner);
        }
    }

    private static final class Reader extends ChannelInboundHandlerAdapter {

        /** By the client's address: that of a connection before may become active later than the next client's. */
        private static final Map<SocketAddress, CompletableFuture<Reader>> READERS = new ConcurrentHashMap<>();

        private final SeededBytes bytes = new SeededBytes(SEED);
        private final CompletableFuture<Throwable> exception = new CompletableFuture<>();
        private volatile Channel channel;
        private volatile int position;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = context.channel();
            reader(channel.remoteAddress()).complete(this);
        }

        private static CompletableFuture<Reader> reader(SocketAddress client) {
            return READERS.computeIfAbsent(client, _ -> new CompletableFuture<>());
        }

        static Reader of(Channel client) throws Exception {
            return reader(client.localAddress()).get(15, TimeUnit.SECONDS);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int length = buffer.readableBytes();
            try {
                bytes.check(position, buffer);
            } finally {
                buffer.release();
            }
            position += length;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            exception.complete(cause);
        }
    }
}
