// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.TransportKind;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import java.util.Locale;

/** What gRPC runs on. Moving it to UCX takes the builder's calls here; services and stubs stay as they are. */
enum GrpcTransport {
    UCX {
        @Override
        void ensureAvailable() {
            TransportKind.UCX.ensureAvailable();
        }

        @Override
        EventLoopGroup newEventLoopGroup(int threads) {
            return new UcxEventLoopGroup(threads);
        }

        @Override
        void configure(NettyServerBuilder builder, EventLoopGroup group) {
            builder.channelType(UcxServerSocketChannel.class).bossEventLoopGroup(group).workerEventLoopGroup(group);
        }

        @Override
        void configure(NettyChannelBuilder builder, EventLoopGroup group) {
            builder.channelType(UcxSocketChannel.class).eventLoopGroup(group);
        }

        @Override
        String software() {
            return TransportKind.UCX.software();
        }
    },

    /** What gRPC takes when it is told nothing: epoll where that is on the class path, else NIO. */
    DEFAULT {
        @Override
        String software() {
            return "kernel TCP by " + (Epoll.isAvailable() ? "epoll" : "NIO");
        }
    };

    /**
     * @throws io.github.nettyucx.examples.ExampleFailure saying why, if this transport cannot be used here
     */
    void ensureAvailable() {
    }

    /** For the builders, which do not shut it down; {@code null} where gRPC has its own. */
    EventLoopGroup newEventLoopGroup(int threads) {
        return null;
    }

    void configure(NettyServerBuilder builder, EventLoopGroup group) {
    }

    void configure(NettyChannelBuilder builder, EventLoopGroup group) {
    }

    /** What carries the bytes. */
    abstract String software();

    /** The name by which the command line knows this transport. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
