// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;

import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;

/** What an application does to a channel, or with a loop, from any thread. */
enum LoopOperation {
    WRITE,
    WRITE_AND_FLUSH,
    WRITE_MUCH,
    BIND,
    CONNECT,
    DISCONNECT,
    READ,
    AUTO_READ_OFF,
    AUTO_READ_ON,
    SHUTDOWN_OUTPUT,
    SHUTDOWN_INPUT,
    SHUTDOWN,
    DEREGISTER,
    CLOSE,
    /** Of a new channel, as are the next ones. */
    REGISTER,
    BOOTSTRAP_CONNECT,
    BOOTSTRAP_BIND;

    private static final int LITTLE = 100;
    /** More than the peer's window. */
    private static final int MUCH = 4 * 1024 * 1024;

    /**
     * What an operation is done to.
     *
     * @param channel    connected, or has been
     * @param loop       of the channel
     * @param server     to connect to
     * @param clientType of new channels, as is {@code serverType}
     */
    record Target(SocketChannel channel, EventLoop loop, SocketAddress server, Class<? extends Channel> clientType,
                  Class<? extends ServerChannel> serverType) {
    }

    /** @return its promise; {@code null} if it has none */
    Future<?> start(Target target) throws ReflectiveOperationException {
        SocketChannel channel = target.channel;
        return switch (this) {
            case WRITE -> channel.write(bytes(channel, LITTLE));
            case WRITE_AND_FLUSH -> channel.writeAndFlush(bytes(channel, LITTLE));
            case WRITE_MUCH -> channel.writeAndFlush(bytes(channel, MUCH));
            case BIND -> channel.bind(Peers.loopback(0));
            case CONNECT -> channel.connect(target.server);
            case DISCONNECT -> channel.disconnect();
            case READ -> {
                channel.read();
                yield null;
            }
            case AUTO_READ_OFF -> {
                channel.config().setAutoRead(false);
                yield null;
            }
            case AUTO_READ_ON -> {
                channel.config().setAutoRead(true);
                yield null;
            }
            case SHUTDOWN_OUTPUT -> channel.shutdownOutput();
            case SHUTDOWN_INPUT -> channel.shutdownInput();
            case SHUTDOWN -> channel.shutdown();
            case DEREGISTER -> channel.deregister();
            case CLOSE -> channel.close();
            case REGISTER -> target.loop.register(target.clientType.getDeclaredConstructor().newInstance());
            case BOOTSTRAP_CONNECT -> new Bootstrap().group(target.loop).channel(target.clientType)
                    .handler(new ChannelInboundHandlerAdapter()).connect(target.server);
            case BOOTSTRAP_BIND -> new ServerBootstrap().group(target.loop).channel(target.serverType)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(Peers.loopback(0));
        };
    }

    /** Does it, and tells what it has come to. */
    String outcome(Target target, int seconds) throws InterruptedException, ReflectiveOperationException {
        Future<?> promise;
        try {
            promise = start(target);
        } catch (RuntimeException e) {
            return "throws " + e.getClass().getSimpleName();
        }
        if (promise == null) {
            return "is done";
        }
        if (!promise.await(seconds, TimeUnit.SECONDS)) {
            return "hangs";
        }
        return promise.isSuccess() ? "succeeds" : "fails with " + promise.cause().getClass().getSimpleName();
    }

    private static ByteBuf bytes(Channel channel, int length) {
        return channel.alloc().directBuffer(length).writeZero(length);
    }
}
