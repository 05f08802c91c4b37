// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.EventExecutor;

/**
 * How an application of the tests names its transport. Classes that not each release of Netty has are named by text, and
 * those of 4.2 only touched by the constants that need them.
 */
@SuppressWarnings("deprecation")
enum ApplicationTransport {

    NIO("io.netty.channel.nio.NioEventLoopGroup", "io.netty.channel.socket.nio.Nio"),
    /** By method references, instead of classes. */
    NIO_REFERENCES("io.netty.channel.nio.NioEventLoopGroup", "io.netty.channel.socket.nio.Nio") {
        @Override
        void client(Bootstrap client) {
            client.channelFactory((ChannelFactory<SocketChannel>) NioSocketChannel::new);
        }

        @Override
        void server(ServerBootstrap server) {
            server.channelFactory((ChannelFactory<ServerChannel>) NioServerSocketChannel::new);
        }
    },
    EPOLL("io.netty.channel.epoll.EpollEventLoopGroup", "io.netty.channel.epoll.Epoll"),
    /** The incubator's, of Netty 4.1. */
    IO_URING("io.netty.incubator.channel.uring.IOUringEventLoopGroup", "io.netty.incubator.channel.uring.IOUring"),
    NIO_HANDLER(null, "io.netty.channel.socket.nio.Nio") {
        @Override
        EventLoopGroup group(int loops) {
            return Handlers.group(loops, NioIoHandler.newFactory());
        }
    },
    EPOLL_HANDLER("io.netty.channel.epoll.EpollIoHandler", "io.netty.channel.epoll.Epoll") {
        @Override
        EventLoopGroup group(int loops) throws Exception {
            return Handlers.group(loops, factory());
        }
    },
    IO_URING_HANDLER("io.netty.channel.uring.IoUringIoHandler", "io.netty.channel.uring.IoUring") {
        @Override
        EventLoopGroup group(int loops) throws Exception {
            return Handlers.group(loops, factory());
        }
    },
    /** The application's own, not the agent's. */
    UCX("io.github.nettyucx.channel.UcxEventLoopGroup", "io.github.nettyucx.channel.Ucx");

    /** What Netty 4.1 has not. */
    private static final class Handlers {

        private Handlers() {
        }

        static EventLoopGroup group(int loops, Object factory) {
            return new MultiThreadIoEventLoopGroup(loops, (IoHandlerFactory) factory);
        }
    }

    private final String type;
    private final String channels;

    ApplicationTransport(String type, String channels) {
        this.type = relocated(type);
        this.channels = relocated(channels);
    }

    /** In a relocated copy the package is another one, and this class names it in its own bytes. */
    private static String relocated(String name) {
        String root = EventLoopGroup.class.getPackageName().replaceFirst("\\.channel$", "");
        return name == null || !name.startsWith("io.netty") ? name : root + name.substring("io.netty".length());
    }

    EventLoopGroup group(int loops) throws Exception {
        return (EventLoopGroup) Class.forName(type).getConstructor(int.class).newInstance(loops);
    }

    Object factory() throws Exception {
        return Class.forName(type).getMethod("newFactory").invoke(null);
    }

    void client(Bootstrap client) throws Exception {
        client.channel(Class.forName(channels + "SocketChannel").asSubclass(SocketChannel.class));
    }

    void server(ServerBootstrap server) throws Exception {
        server.channel(Class.forName(channels + "ServerSocketChannel").asSubclass(ServerChannel.class));
    }

    /** What groups can be told while they run, and each of their loops has done it when this returns. */
    void exercise(EventLoopGroup group) throws Exception {
        if (group instanceof NioEventLoopGroup nio) {
            nio.setIoRatio(70);
            nio.rebuildSelectors();
        } else if (this == EPOLL) {
            group.getClass().getMethod("setIoRatio", int.class).invoke(group, 70);
        }
        // A selector is rebuilt by a task of its loop, which says how many channels it had: none may be closed before.
        for (EventExecutor loop : group) {
            loop.submit(() -> { }).sync();
        }
    }
}
