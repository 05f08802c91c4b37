// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.incubator.channel.uring.IOUring;
import io.netty.incubator.channel.uring.IOUringEventLoopGroup;
import io.netty.incubator.channel.uring.IOUringServerSocketChannel;
import io.netty.incubator.channel.uring.IOUringSocketChannel;
import io.netty.util.Version;
import java.util.Locale;

/**
 * The transports an example can run on. Moving a Netty application to another transport means exactly this: another
 * event loop group and the channel classes that belong to it; handlers and pipelines stay as they are.
 */
public enum TransportKind {
    UCX {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads) {
            return new UcxEventLoopGroup(threads);
        }

        @Override
        public Class<? extends SocketChannel> socketChannel() {
            return UcxSocketChannel.class;
        }

        @Override
        public Class<? extends ServerSocketChannel> serverSocketChannel() {
            return UcxServerSocketChannel.class;
        }

        @Override
        public Throwable unavailabilityCause() {
            // Without UCX the transport's connections go over the kernel's sockets, which is not what is asked for here.
            return Lane.needsUcx() ? Ucx.unavailabilityCause() : null;
        }

        @Override
        public String lane(Channel connected) {
            return ((UcxSocketChannel) connected).lane();
        }

        @Override
        public String software() {
            return Lane.needsUcx() ? "UCX " + Ucx.version() : super.software();
        }
    },

    NIO {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads) {
            return new NioEventLoopGroup(threads);
        }

        @Override
        public Class<? extends SocketChannel> socketChannel() {
            return NioSocketChannel.class;
        }

        @Override
        public Class<? extends ServerSocketChannel> serverSocketChannel() {
            return NioServerSocketChannel.class;
        }
    },

    EPOLL {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads) {
            return new EpollEventLoopGroup(threads);
        }

        @Override
        public Class<? extends SocketChannel> socketChannel() {
            return EpollSocketChannel.class;
        }

        @Override
        public Class<? extends ServerSocketChannel> serverSocketChannel() {
            return EpollServerSocketChannel.class;
        }

        @Override
        public Throwable unavailabilityCause() {
            return Epoll.unavailabilityCause();
        }
    },

    /** Netty's incubator for 4.1. */
    IO_URING {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads) {
            return new IOUringEventLoopGroup(threads);
        }

        @Override
        public Class<? extends SocketChannel> socketChannel() {
            return IOUringSocketChannel.class;
        }

        @Override
        public Class<? extends ServerSocketChannel> serverSocketChannel() {
            return IOUringServerSocketChannel.class;
        }

        @Override
        public Throwable unavailabilityCause() {
            return IOUring.unavailabilityCause();
        }
    };

    /**
     * @param threads the number of event loops, at least 1
     */
    public abstract EventLoopGroup newEventLoopGroup(int threads);

    /** The class for {@code Bootstrap.channel}. */
    public abstract Class<? extends SocketChannel> socketChannel();

    /** The class for {@code ServerBootstrap.channel}. */
    public abstract Class<? extends ServerSocketChannel> serverSocketChannel();

    /** Why this transport cannot be used here, or {@code null} if it can. */
    public Throwable unavailabilityCause() {
        return null;
    }

    /** What carries the bytes of a connected channel of this transport, for example {@code sysv} or {@code socket}. */
    public String lane(Channel connected) {
        return "tcp";
    }

    /** The software below Netty's channel API, with its version. */
    public String software() {
        var transport = Version.identify().get("netty-transport");
        return "Netty " + (transport == null ? "of unknown version" : transport.artifactVersion());
    }

    /**
     * @throws ExampleFailure saying why, if this transport cannot be used here
     */
    public void ensureAvailable() {
        var cause = unavailabilityCause();
        if (cause != null) {
            throw new ExampleFailure("the " + this + " transport is not available here: " + Explanation.of(cause),
                    cause);
        }
    }

    /** The name by which the command line knows this transport. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
