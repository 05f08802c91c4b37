// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.RunningServer;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Serves {@link ExerciseService} to any number of clients, until it is stopped. */
final class GrpcServer implements RunningServer {
    static final int LARGEST_MESSAGE = 17 << 20;
    /** Of each call and connection, in bytes; fixed, so that what a stopped reader takes is known. */
    static final int WINDOW = 1 << 20;

    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Server server;

    private GrpcServer(EventLoopGroup group, Server server) {
        this.group = group;
        this.server = server;
    }

    /**
     * Returns when the server accepts connections.
     *
     * @param certificate PEM file, or {@code null} for plaintext
     * @param key PEM file of the certificate's key, or {@code null} for plaintext
     * @param direct whether calls run on the event loops
     */
    static GrpcServer start(GrpcTransport transport, HostAndPort address, Path certificate, Path key, boolean direct) {
        transport.ensureAvailable();
        var witness = new CallWitness();
        var builder = builder(address, certificate, key)
                .addService(new ExerciseService(witness))
                .intercept(witness)
                .flowControlWindow(WINDOW)
                .maxInboundMessageSize(LARGEST_MESSAGE);
        if (direct) {
            builder.directExecutor();
        }
        // One connection needs no more than one loop, which can accept it too.
        var group = transport.newEventLoopGroup(1);
        transport.configure(builder, group);
        try {
            return new GrpcServer(group, builder.build().start());
        } catch (IOException e) {
            shutdown(group);
            throw new ExampleFailure("cannot listen on " + address + ": " + Explanation.of(e), e);
        }
    }

    private static NettyServerBuilder builder(HostAndPort address, Path certificate, Path key) {
        var local = address.resolve();
        if (certificate == null) {
            return NettyServerBuilder.forAddress(local, InsecureServerCredentials.create());
        }
        try {
            return NettyServerBuilder.forAddress(local, TlsServerCredentials.create(certificate.toFile(), key.toFile()));
        } catch (IOException | IllegalArgumentException e) {
            throw new ExampleFailure("cannot use " + certificate + " and " + key + ": " + Explanation.of(e), e);
        }
    }

    @Override
    public HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) server.getListenSockets().getFirst());
    }

    @Override
    public void stop() {
        server.shutdown();
    }

    @Override
    public void awaitStop() throws InterruptedException {
        server.awaitTermination();
    }

    @Override
    public void close() {
        server.shutdown();
        try {
            if (!server.awaitTermination(SHUTDOWN_SECONDS, TimeUnit.SECONDS)) {
                server.shutdownNow().awaitTermination(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            server.shutdownNow();
        }
        shutdown(group);
    }

    static void shutdown(EventLoopGroup group) {
        if (group != null) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
