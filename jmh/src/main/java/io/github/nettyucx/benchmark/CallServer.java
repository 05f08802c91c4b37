// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseImplBase;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Answers gRPC calls until it is stopped. What a scenario does not name is left to gRPC's defaults. */
final class CallServer implements MeasuredServer {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Server server;

    private CallServer(EventLoopGroup group, Server server) {
        this.group = group;
        this.server = server;
    }

    static CallServer start(Task task) throws IOException, InterruptedException {
        var transport = task.setting().transport();
        var group = transport.newEventLoopGroup(task.scenario().loops());
        Loops.start(group);
        var builder = NettyServerBuilder
                .forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), credentials(task))
                .channelType(transport.serverSocketChannel())
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .addService(new Answers());
        if (task.scenario().executor() == CallExecutor.DIRECT) {
            builder.directExecutor();
        }
        return new CallServer(group, builder.build().start());
    }

    private static ServerCredentials credentials(Task task) throws IOException {
        return task.scenario().isPlain() ? InsecureServerCredentials.create()
                : TlsServerCredentials.create(task.certificate().certificate().toFile(),
                        task.certificate().key().toFile());
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) server.getListenSockets().getFirst());
    }

    @Override
    public ProcessState state() {
        return ProcessState.now(new long[0]);
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
        server.shutdownNow();
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    /** Returns what it gets. */
    private static final class Answers extends ExerciseImplBase {
        @Override
        public void return_(Payload request, StreamObserver<Payload> replies) {
            replies.onNext(request);
            replies.onCompleted();
        }

        @Override
        public StreamObserver<Payload> returnEach(StreamObserver<Payload> replies) {
            return new StreamObserver<>() {
                @Override
                public void onNext(Payload request) {
                    replies.onNext(request);
                }

                @Override
                public void onError(Throwable cause) {
                    System.err.println("stream dropped: " + Explanation.of(cause));
                }

                @Override
                public void onCompleted() {
                    replies.onCompleted();
                }
            };
        }
    }
}
