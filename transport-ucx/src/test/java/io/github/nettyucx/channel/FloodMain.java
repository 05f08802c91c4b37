// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.ReferenceCountUtil;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;

/** A program that writes to a server on some connections, as fast as it can, until it is killed. */
final class FloodMain {

    static final int CONNECTIONS = 4;

    private FloodMain() {
    }

    /** @param arguments the server's port */
    public static void main(String[] arguments) throws Exception {
        long seed = new SplittableRandom().nextLong();
        System.out.println("flood seed " + seed);
        SplittableRandom seeds = new SplittableRandom(seed);
        InetSocketAddress server =
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(arguments[0]));
        Bootstrap bootstrap = new Bootstrap().group(TestLoops.newGroup(1)).channel(UcxSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Flood(seeds.split()));
                    }
                });
        for (int i = 0; i < CONNECTIONS; i++) {
            bootstrap.connect(server).sync();
        }
        // Ends with the JVM that started it, if nobody kills it before.
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(1);
    }

    private static final class Flood extends ChannelInboundHandlerAdapter {

        private final SplittableRandom random;

        Flood(SplittableRandom random) {
            this.random = random;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            write(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
        }

        private void write(ChannelHandlerContext context) {
            while (context.channel().isWritable()) {
                int length = random.nextInt(4) == 0 ? random.nextInt(1, 256 * 1024) : random.nextInt(1, 1024);
                context.write(context.alloc().directBuffer(length).writeZero(length));
                if (random.nextInt(4) == 0) {
                    context.flush();
                }
            }
            context.flush();
            context.executor().execute(() -> write(context));
        }
    }
}
