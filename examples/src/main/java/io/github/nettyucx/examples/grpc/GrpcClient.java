// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A gRPC channel, which is one connection here, to {@link GrpcServer}. */
final class GrpcClient implements AutoCloseable {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final ManagedChannel channel;
    /** The connection, where the transport has lanes to choose from. */
    private volatile UcxSocketChannel ucx;

    private GrpcClient(GrpcTransport transport, NettyChannelBuilder builder, boolean direct, boolean observed) {
        group = transport.newEventLoopGroup(1);
        transport.configure(builder, group);
        if (observed && transport == GrpcTransport.UCX) {
            // In place of channelType, which does the same but does not tell us the channel.
            builder.channelFactory(() -> ucx = new UcxSocketChannel());
        }
        if (direct) {
            builder.directExecutor();
        }
        channel = builder.flowControlWindow(GrpcServer.WINDOW).maxInboundMessageSize(GrpcServer.LARGEST_MESSAGE).build();
    }

    /**
     * @param trust PEM file with the certificate that the server has to have, or {@code null} for plaintext
     */
    static GrpcClient to(HostAndPort server, GrpcTransport transport, Path trust) {
        transport.ensureAvailable();
        return new GrpcClient(transport, builder(server, trust), false, false);
    }

    static GrpcClient with(HostAndPort server, GrpcTransport transport, ChannelCredentials credentials) {
        transport.ensureAvailable();
        return new GrpcClient(transport,
                NettyChannelBuilder.forAddress(server.host(), server.port(), credentials), false, false);
    }

    /**
     * One that knows its {@link #lane}.
     *
     * @param direct whether replies are handled on the event loop
     */
    static GrpcClient observed(HostAndPort server, GrpcTransport transport, Path trust, boolean direct) {
        transport.ensureAvailable();
        return new GrpcClient(transport, builder(server, trust), direct, true);
    }

    private static NettyChannelBuilder builder(HostAndPort server, Path trust) {
        if (trust == null) {
            return NettyChannelBuilder.forAddress(server.host(), server.port(), InsecureChannelCredentials.create());
        }
        try {
            return NettyChannelBuilder.forAddress(server.host(), server.port(),
                    TlsChannelCredentials.newBuilder().trustManager(trust.toFile()).build());
        } catch (IOException | IllegalArgumentException e) {
            throw new ExampleFailure("cannot use " + trust + ": " + Explanation.of(e), e);
        }
    }

    ManagedChannel channel() {
        return channel;
    }

    /** What carries the bytes of an observed client, once there is a connection. */
    String lane() {
        return ucx == null ? "tcp" : ucx.lane();
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            channel.awaitTermination(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        GrpcServer.shutdown(group);
    }
}
