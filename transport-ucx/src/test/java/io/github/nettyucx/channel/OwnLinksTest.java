// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Loops that are connected with themselves, and with each other both ways. */
@Tag("ucx-matrix")
class OwnLinksTest {

    private static final int SECONDS = 15;
    private static final int LENGTH = 300_000;
    private static final int CONNECTIONS = 12;

    private final List<EventLoopGroup> groups = new ArrayList<>();

    @AfterEach
    void endLoops() {
        for (EventLoopGroup group : groups) {
            assertTrue(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS)
                    .awaitUninterruptibly(SECONDS, TimeUnit.SECONDS), "a loop does not end");
        }
    }

    private EventLoopGroup loops(int number) {
        EventLoopGroup group = TestLoops.newGroup(number);
        groups.add(group);
        return group;
    }

    private static Channel listen(EventLoopGroup accepting, EventLoopGroup serving) throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(accepting, serving).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                    }
                }).bind(Peers.loopback(0))).channel();
    }

    /** Says something of its own, and compares what comes back. */
    private static final class Talk extends ChannelInboundHandlerAdapter {

        private final SeededBytes bytes;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int heard;

        Talk(long seed) {
            bytes = new SeededBytes(seed);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.write(Unpooled.wrappedBuffer(bytes.at(0, 10)));
            context.writeAndFlush(Unpooled.wrappedBuffer(bytes.at(10, LENGTH - 10)));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf in = (ByteBuf) message;
            try {
                bytes.check(heard, in.duplicate());
                heard += in.readableBytes();
                if (heard == LENGTH) {
                    done.complete(null);
                }
            } catch (Throwable t) {
                done.completeExceptionally(t);
            } finally {
                in.release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            done.completeExceptionally(new AssertionError("ended after " + heard + " bytes"));
        }
    }

    /** From both groups to both servers, all at once. */
    private static void talk(EventLoopGroup one, Channel ofOne, EventLoopGroup other, Channel ofOther)
            throws Exception {
        List<Talk> talks = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            talks.add(new Talk(2 * i));
            connects.add(connect(one, ofOther, talks.getLast()));
            talks.add(new Talk(2 * i + 1));
            connects.add(connect(other, ofOne, talks.getLast()));
        }
        for (ChannelFuture connect : connects) {
            Channel channel = Peers.await(connect).channel();
            assertTrue(Lane.current().has(((UcxSocketChannel) channel).lane()), channel::toString);
        }
        for (Talk talk : talks) {
            talk.done.get(SECONDS, TimeUnit.SECONDS);
        }
        for (ChannelFuture connect : connects) {
            Peers.await(connect.channel().close());
        }
    }

    private static ChannelFuture connect(EventLoopGroup group, Channel server, Talk talk) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(talk)
                .connect(server.localAddress());
    }

    @OnEachLane
    void aLoopWithItself() throws Exception {
        EventLoopGroup only = loops(1);
        Channel server = listen(only, only);
        talk(only, server, only, server);
    }

    @OnEachLane
    void twoLoopsWithEachOtherInBothDirections() throws Exception {
        EventLoopGroup left = loops(1);
        EventLoopGroup right = loops(1);
        talk(left, listen(left, left), right, listen(right, right));
    }

    @OnEachLane
    void manyLoopsOfOneGroup() throws Exception {
        EventLoopGroup group = loops(3);
        talk(group, listen(group, group), group, listen(group, group));
    }
}
