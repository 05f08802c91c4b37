// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A server or client process that does as little as can be but start: who starts it takes the time. It has nothing that
 * a server of an application would not have, so that the difference between two of them is that of their transports.
 */
final class Starter {
    static final String SERVER = "server";
    static final String CLIENT = "client";
    // Reports.
    static final String LISTENING = "listening ";
    static final String ECHOED = "echoed ";

    private static final int MESSAGE = 16;
    /** Instead of a way to wait: the transport's own. */
    private static final String DEFAULT = "default";

    private Starter() {
    }

    static boolean isReport(String line) {
        return line.startsWith(LISTENING) || line.startsWith(ECHOED);
    }

    /** What a process is started with: the role and what {@link #setting} reads. There may be more behind it. */
    static List<String> arguments(String role, Setting setting) {
        return List.of(role, setting.transport().name(), setting.lane().name(),
                setting.waitMode() == null ? DEFAULT : setting.waitMode().name());
    }

    static Setting setting(String[] args) {
        return new Setting(TransportKind.valueOf(args[1]), Lane.valueOf(args[2]),
                args[3].equals(DEFAULT) ? null : WaitMode.valueOf(args[3]));
    }

    /** @param args the role, the setting, and for a client the server's port */
    public static void main(String[] args) throws Exception {
        var setting = setting(args);
        setting.apply();
        if (args[0].equals(SERVER)) {
            serve(setting.transport());
        } else {
            ask(setting.transport(), Integer.parseInt(args[4]));
        }
        awaitParent();
        Runtime.getRuntime().halt(0);
    }

    private static void serve(TransportKind transport) throws InterruptedException {
        var channel = new ServerBootstrap().group(transport.newEventLoopGroup(1))
                .channel(transport.serverSocketChannel())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new Echo());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        System.out.println(LISTENING + ((InetSocketAddress) channel.localAddress()).getPort());
    }

    private static void ask(TransportKind transport, int port) throws InterruptedException {
        var channel = new Bootstrap().group(transport.newEventLoopGroup(1)).channel(transport.socketChannel())
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new Answer(transport));
                    }
                })
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).sync().channel();
        channel.writeAndFlush(channel.alloc().directBuffer(MESSAGE).writeZero(MESSAGE));
    }

    private static void awaitParent() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is said.
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Answer extends ChannelInboundHandlerAdapter {
        private final TransportKind transport;
        private int missing = MESSAGE;

        Answer(TransportKind transport) {
            this.transport = transport;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var answer = (ByteBuf) message;
            missing -= answer.readableBytes();
            answer.release();
            if (missing == 0) {
                System.out.println(ECHOED + transport.lane(context.channel()));
            }
        }
    }
}
