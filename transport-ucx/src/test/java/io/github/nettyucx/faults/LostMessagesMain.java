// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
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

import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A program with two connections over one link. The reader of one pauses, and what it is sent takes all the receive segments
 * that UCX has. There is no shared memory for more of them, and so UCX loses what the other one is sent.
 */
final class LostMessagesMain {

    private static final int SEED = 4711;
    private static final String LANES = "shm,socket";
    private static final int SECONDS = 15;
    private static final int MESSAGES = 50;
    /** In segments of UCX. */
    private static final int LARGE_MESSAGES = 20;
    private static final int LARGE = 60_000;
    /** From this size on it is one message, which UCX sends as a rendezvous. */
    private static final int RENDEZVOUS = 1024 * 1024;
    private static final int LARGE_WINDOW = 16 * 1024 * 1024;
    /** What a connection is sent that is made afterwards. */
    private static final int AGAIN = 1000;

    /** Looks at each byte that comes. */
    private static final class Reader extends ChannelInboundHandlerAdapter {

        private final BlockingQueue<Reader> active;
        private final SeededBytes expected = new SeededBytes(SEED);
        private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();
        private ChannelHandlerContext context;
        private int received;
        private String wrong = "none";
        private Throwable exception;

        Reader(BlockingQueue<Reader> active) {
            this.active = active;
        }

        @Override
        public void channelActive(ChannelHandlerContext activated) {
            context = activated;
            active.add(this);
        }

        @Override
        public void channelRead(ChannelHandlerContext reading, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            int length = bytes.readableBytes();
            if (!bytes.equals(Unpooled.wrappedBuffer(expected.at(received, length)))) {
                wrong = "in " + length + " from " + received + " on";
            }
            received += length;
            bytes.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
            exception = cause;
            caught.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext inactive) {
            ended.add("wrong bytes: " + wrong + ", " + (exception == null ? received + " bytes, and their end" : exception));
        }
    }

    private LostMessagesMain() {
    }

    /** @param arguments UCX's transport, the length of the messages that get lost, and whether the sender closes behind them */
    public static void main(String[] arguments) throws Exception {
        SharedMemoryRoom room = new SharedMemoryRoom(arguments[0]);
        BlockingQueue<Reader> readers = new LinkedBlockingQueue<>();
        int length = Integer.parseInt(arguments[1]);
        ServerBootstrap bootstrap = new ServerBootstrap().group(TestLoops.newGroup(1))
                .channel(UcxServerSocketChannel.class).childOption(ChannelOption.AUTO_READ, false)
                .childOption(UcxChannelOption.LANES, LANES);
        if (length >= RENDEZVOUS) {
            bootstrap.childOption(ChannelOption.SO_RCVBUF, LARGE_WINDOW);
        }
        SocketAddress server = Peers.await(bootstrap.childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(new Reader(readers));
                    }
                }).bind(Peers.loopback(0))).channel().localAddress();
        EventLoopGroup group = TestLoops.newGroup(1);
        Channel toPaused = Peers.await(connect(group, server)).channel();
        readers.take();
        Channel toReader = Peers.await(connect(group, server)).channel();
        Reader reader = readers.take();
        reader.context.channel().config().setAutoRead(true);
        SeededBytes bytes = new SeededBytes(SEED);
        if (length >= RENDEZVOUS) {
            // Before the first one the endpoints of UCX tell each other more, and wait for that, which could be lost as well.
            toReader.writeAndFlush(Unpooled.directBuffer(length).writeBytes(bytes.at(0, length))).sync();
        }
        int first = length >= RENDEZVOUS ? 1 : 0;
        room.fill();
        for (int i = 0; i < LARGE_MESSAGES; i++) {
            toPaused.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
        }
        for (int i = 0; i < (length >= RENDEZVOUS ? 1 : MESSAGES); i++) {
            toReader.writeAndFlush(Unpooled.directBuffer(length).writeBytes(bytes.at((long) (i + first) * length, length)));
        }
        if (Boolean.parseBoolean(arguments[2])) {
            toReader.close();
        }
        String end = reader.ended.poll(SECONDS, TimeUnit.SECONDS);
        Child.say("ended " + (end == null ? "not, with " + reader.received + " bytes" : end));
        // There is no more room than before, and less in the worker.
        UcxSocketChannel again = (UcxSocketChannel) Peers.await(connect(group, server)).channel();
        Reader next = readers.take();
        next.context.channel().config().setAutoRead(true);
        again.writeAndFlush(Unpooled.directBuffer(AGAIN).writeBytes(bytes.at(0, AGAIN))).addListener(sent -> again.close());
        Child.say("again over " + again.lane() + ", " + next.ended.poll(SECONDS, TimeUnit.SECONDS));
        room.empty();
        System.exit(0);
    }

    private static ChannelFuture connect(EventLoopGroup group, SocketAddress server) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class).option(UcxChannelOption.LANES, LANES)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        context.close();
                    }
                }).connect(server);
    }
}
