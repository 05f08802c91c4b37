// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * A server that closes the first connection as soon as it has it, and ends then. From within {@code initChannel}: nothing
 * but the exit itself can go on with the handshake.
 */
final class DecliningMain {

    /** Begins the line that says the port. */
    static final String PORT = "listens on ";

    private DecliningMain() {
    }

    public static void main(String[] arguments) throws Exception {
        Channel server = new ServerBootstrap().group(TestLoops.newGroup(1)).channel(UcxServerSocketChannel.class)
                .childOption(UcxChannelOption.LANES, Lane.current().orSocket())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        if (arguments.length > 0) {
                            channel.writeAndFlush(Unpooled.copiedBuffer(arguments[0], StandardCharsets.US_ASCII));
                        }
                        // What has been flushed is delivered before the channel is closed.
                        boolean done = channel.close().isDone() == (arguments.length == 0);
                        System.exit(done ? 0 : 1);
                    }
                }).bind(Peers.loopback(0)).sync().channel();
        System.out.println(PORT + ((InetSocketAddress) server.localAddress()).getPort());
    }
}
