// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server, and a client that has no descriptor when it has to attach the next memory of the server's. */
final class HoleMain {

    static final String READ = "read";
    static final String GO = "go";
    private static final int CONNECTIONS = 3;
    private static final long SECONDS = 20;
    /** UCX sends it in pieces that the server holds, each in a segment of its own. */
    private static final int HELD = 60_000;
    private static final int HELD_MESSAGES = 17;
    private static final int SMALL = 1000;
    /** UCX's queue has 256 places. */
    private static final int MANY = 2000;
    private static final Path ANY_FILE = Path.of("/dev/null");

    private HoleMain() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            serve();
        } else {
            // To load one takes a descriptor.
            LoadedClasses.loadAll();
            connect(Peers.loopback(Integer.parseInt(arguments[0])));
        }
    }

    /** The first connection is not read until that is told; all others have everything sent back. */
    private static void serve() throws Exception {
        Queue<Channel> accepted = new ConcurrentLinkedQueue<>();
        Channel server = new ServerBootstrap().group(TestLoops.newGroup(1)).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (accepted.isEmpty()) {
                            channel.config().setAutoRead(false);
                        }
                        channel.pipeline().addLast(new EchoMain.Echo());
                        accepted.add(channel);
                    }
                }).bind(Peers.loopback(0)).sync().channel();
        Child.say("port " + ((InetSocketAddress) server.localAddress()).getPort());
        while (!Child.nextCommand().equals(READ)) {
            // Nothing else is told.
        }
        List<Channel> first = new ArrayList<>(accepted).subList(0, CONNECTIONS);
        first.getFirst().config().setAutoRead(true);
        awaitEnd("server's", first);
        Child.say("ended");
        Child.nextCommand();
    }

    private static void connect(SocketAddress server) throws Exception {
        EventLoopGroup loop = TestLoops.newGroup(1);
        EventLoopGroup otherLoop = TestLoops.newGroup(1);
        List<Channel> channels = new ArrayList<>();
        for (EventLoopGroup group : List.of(loop, loop, otherLoop)) {
            channels.add(connect(group, "shm", server));
        }
        Channel held = channels.get(0);
        Channel writer = channels.get(1);
        echo(writer);
        echo(channels.get(2));
        for (int i = 0; i < HELD_MESSAGES; i++) {
            write(held, HELD).await(SECONDS, TimeUnit.SECONDS);
        }
        // That it has been held is known when what was sent behind it is back.
        echo(writer);
        List<FileChannel> taken = takeAllDescriptors();
        Throwable cause = null;
        for (int i = 0; i < MANY && cause == null; i++) {
            ChannelFuture written = write(writer, SMALL);
            written.await(SECONDS, TimeUnit.SECONDS);
            cause = written.cause();
        }
        for (FileChannel each : taken) {
            each.close();
        }
        Child.say("failed " + cause);
        awaitEnd("client's", channels);
        Child.say("told");
        while (!Child.nextCommand().equals(GO)) {
            // Nothing else is told.
        }
        StringBuilder lanes = new StringBuilder();
        for (EventLoopGroup group : List.of(loop, otherLoop, loop, otherLoop)) {
            Channel next = connect(group, "shm,socket", server);
            lanes.append(((UcxSocketChannel) next).lane()).append(' ');
            echo(next);
        }
        Child.say("again " + lanes);
        Child.nextCommand();
    }

    private static Channel connect(EventLoopGroup group, String lanes, SocketAddress server) throws Exception {
        return Peers.await(new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(UcxChannelOption.LANES, lanes).handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        context.close();
                    }
                }).connect(server)).channel();
    }

    private static ChannelFuture write(Channel channel, int length) {
        return channel.writeAndFlush(Unpooled.directBuffer(length).writeZero(length));
    }

    private static void echo(Channel channel) throws Exception {
        CountDownLatch back = new CountDownLatch(1);
        channel.pipeline().addFirst(new SimpleChannelInboundHandler<ByteBuf>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                back.countDown();
            }
        });
        channel.writeAndFlush(Unpooled.copyInt(1)).await(SECONDS, TimeUnit.SECONDS);
        if (!back.await(SECONDS, TimeUnit.SECONDS)) {
            Child.say("wrong: nothing comes back over " + channel);
        }
    }

    private static void awaitEnd(String whose, List<Channel> channels) throws InterruptedException {
        for (int i = 0; i < channels.size(); i++) {
            if (!channels.get(i).closeFuture().await(SECONDS, TimeUnit.SECONDS)) {
                Child.say("wrong: the " + whose + " connection " + i + " is not told");
            }
        }
    }

    private static List<FileChannel> takeAllDescriptors() {
        List<FileChannel> taken = new ArrayList<>();
        try {
            for (;;) {
                taken.add(FileChannel.open(ANY_FILE));
            }
        } catch (IOException e) {
            return taken;
        }
    }
}
