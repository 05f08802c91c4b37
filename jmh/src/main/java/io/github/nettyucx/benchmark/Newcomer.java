// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A server or client process that works from its first message on, and nothing is compiled yet: one of the two counts
 * what comes in its first second.
 */
final class Newcomer {
    static final String SERVER = "server";
    static final String CLIENT = "client";
    // Reports.
    static final String LISTENING = "listening ";
    /** How many messages there were in the first 100 ms, and in the first second; and what carried them. */
    static final String COUNTED = "counted ";

    private static final long EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

    private Newcomer() {
    }

    static boolean isReport(String line) {
        return line.startsWith(LISTENING) || line.startsWith(COUNTED);
    }

    /** @param args as those of a {@link Starter}; work, bytes in a message, messages in a flush; of a client, the port */
    public static void main(String[] args) throws Exception {
        var setting = Starter.setting(args);
        setting.apply();
        var transport = setting.transport();
        var roundTrips = Work.valueOf(args[4]) == Work.FIRST_LATENCY;
        var size = Integer.parseInt(args[5]);
        if (args[0].equals(SERVER)) {
            serve(transport, roundTrips ? Echo::new : () -> new Counter(transport, size));
        } else {
            var flush = Integer.parseInt(args[6]);
            connect(transport, Integer.parseInt(args[7]), roundTrips ? () -> new RoundTrips(transport, size)
                    : () -> new OneWay(size, flush));
        }
        awaitParent();
        Runtime.getRuntime().halt(0);
    }

    private static void serve(TransportKind transport, Supplier<ChannelInboundHandlerAdapter> handlers)
            throws InterruptedException {
        var channel = new ServerBootstrap().group(transport.newEventLoopGroup(1))
                .channel(transport.serverSocketChannel()).childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(initializer(handlers))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        System.out.println(LISTENING + ((InetSocketAddress) channel.localAddress()).getPort());
    }

    private static void connect(TransportKind transport, int port, Supplier<ChannelInboundHandlerAdapter> handlers)
            throws InterruptedException {
        new Bootstrap().group(transport.newEventLoopGroup(1)).channel(transport.socketChannel())
                .option(ChannelOption.TCP_NODELAY, true).handler(initializer(handlers))
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).sync();
    }

    private static ChannelInitializer<SocketChannel> initializer(Supplier<ChannelInboundHandlerAdapter> handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel connection) {
                connection.pipeline().addLast(handlers.get());
            }
        };
    }

    private static void awaitParent() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is said.
        }
    }

    /** Counts from the first message, or from a moment before it, on. */
    private static final class FirstSecond {
        private final TransportKind transport;
        private final int size;
        private long beginNanos;
        private long bytes;
        private long early = -1;
        private boolean over;

        FirstSecond(TransportKind transport, int size) {
            this.transport = transport;
            this.size = size;
        }

        void begin() {
            beginNanos = System.nanoTime();
        }

        /** @return whether the second is not over yet */
        boolean count(int more, Channel channel) {
            if (over) {
                return false;
            }
            var nanos = System.nanoTime() - beginNanos;
            if (early < 0 && nanos >= EARLY_NANOS) {
                early = bytes / size;
            }
            over = nanos >= END_NANOS;
            if (over) {
                System.out.println(COUNTED + early + ' ' + bytes / size + ' ' + transport.lane(channel));
            }
            bytes += more;
            return !over;
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message, context.voidPromise());
        }
    }

    private static final class RoundTrips extends ChannelInboundHandlerAdapter {
        private final FirstSecond second;
        private final int size;
        private ByteBuf message;
        private int missing;

        RoundTrips(TransportKind transport, int size) {
            second = new FirstSecond(transport, size);
            this.size = size;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            message = context.alloc().directBuffer(size).writeZero(size);
            second.begin();
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            missing = size;
            context.writeAndFlush(message.retainedDuplicate(), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object answer) {
            var in = (ByteBuf) answer;
            missing -= in.readableBytes();
            in.release();
            if (missing == 0 && second.count(size, context.channel())) {
                send(context);
            }
        }
    }

    private static final class Counter extends ChannelInboundHandlerAdapter {
        private final FirstSecond second;
        private boolean begun;

        Counter(TransportKind transport, int size) {
            second = new FirstSecond(transport, size);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!begun) {
                begun = true;
                second.begin();
            }
            var in = (ByteBuf) message;
            var length = in.readableBytes();
            in.release();
            second.count(length, context.channel());
        }
    }

    /** Goes on until its process ends. */
    private static final class OneWay extends ChannelInboundHandlerAdapter {
        private final int size;
        private final int flush;
        private Sender sender;

        OneWay(int size, int flush) {
            this.size = size;
            this.flush = flush;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            sender = new Sender(context);
            sender.start(new Phase(Phase.Kind.TO_SERVER, size, flush, Phase.ENDLESS),
                    context.alloc().directBuffer(size).writeZero(size));
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (sender != null) {
                sender.writabilityChanged();
            }
        }
    }
}
