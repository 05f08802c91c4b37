// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * gRPC with its Netty inside, as most applications have it, and all four kinds of call, with arrays of bytes for messages.
 * {@code server [CERTIFICATE KEY]} or {@code client PORT [CERTIFICATE]}. Knows nothing of the agent.
 */
public final class GrpcApplication {

    private static final int SECONDS = 60;
    private static final int LARGE = 3 * 1024 * 1024;
    private static final int STREAMED = 500;
    private static final int WARM_UP = 1_000;
    private static final int MEASURED = 2_000;

    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private static final MethodDescriptor<byte[], byte[]> UNARY = method("Unary", MethodDescriptor.MethodType.UNARY);
    private static final MethodDescriptor<byte[], byte[]> DOWN =
            method("Down", MethodDescriptor.MethodType.SERVER_STREAMING);
    private static final MethodDescriptor<byte[], byte[]> UP =
            method("Up", MethodDescriptor.MethodType.CLIENT_STREAMING);
    private static final MethodDescriptor<byte[], byte[]> BOTH =
            method("Both", MethodDescriptor.MethodType.BIDI_STREAMING);

    private GrpcApplication() {
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.newBuilder(BYTES, BYTES).setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("Exercise", name)).build();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("server")) {
            serve(arguments);
        } else {
            call(arguments);
        }
    }

    // ------------------------------------------------------------------------------------------- server

    private static void serve(String[] arguments) throws Exception {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .maxInboundMessageSize(2 * LARGE).addService(service());
        if (arguments.length > 1) {
            builder.useTransportSecurity(new File(arguments[1]), new File(arguments[2]));
        }
        Server server = builder.build().start();
        System.out.println("listening " + server.getPort());
        System.in.read();
        requireEnded(server.shutdown().awaitTermination(SECONDS, TimeUnit.SECONDS), "server");
        System.out.println("server done");
    }

    private static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder("Exercise")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, answers) -> {
                    answers.onNext(reversed(request));
                    answers.onCompleted();
                }))
                .addMethod(DOWN, ServerCalls.asyncServerStreamingCall((request, answers) -> {
                    for (int count = 0; count < STREAMED; count++) {
                        answers.onNext(Arrays.copyOf(request, count));
                    }
                    answers.onCompleted();
                }))
                .addMethod(UP, ServerCalls.asyncClientStreamingCall(answers -> new Each(answers) {
                    private final MessageDigest digest = sha256();

                    @Override
                    public void onNext(byte[] message) {
                        digest.update(message);
                    }

                    @Override
                    public void onCompleted() {
                        answers.onNext(digest.digest());
                        answers.onCompleted();
                    }
                }))
                .addMethod(BOTH, ServerCalls.asyncBidiStreamingCall(answers -> new Each(answers) {
                    @Override
                    public void onNext(byte[] message) {
                        answers.onNext(reversed(message));
                    }
                })).build();
    }

    /** Of a call that the client streams. */
    private abstract static class Each implements StreamObserver<byte[]> {

        final StreamObserver<byte[]> answers;

        Each(StreamObserver<byte[]> answers) {
            this.answers = answers;
        }

        @Override
        public void onError(Throwable t) {
            System.out.println("the call failed: " + t);
        }

        @Override
        public void onCompleted() {
            answers.onCompleted();
        }
    }

    private static byte[] reversed(byte[] bytes) {
        byte[] result = new byte[bytes.length];
        for (int index = 0; index < bytes.length; index++) {
            result[index] = bytes[bytes.length - 1 - index];
        }
        return result;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    // ------------------------------------------------------------------------------------------- client

    private static void call(String[] arguments) throws Exception {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(arguments[1]))
                .maxInboundMessageSize(2 * LARGE);
        if (arguments.length > 2) {
            builder.sslContext(GrpcSslContexts.forClient().trustManager(new File(arguments[2])).build())
                    .overrideAuthority("localhost");
        } else {
            builder.usePlaintext();
        }
        ManagedChannel channel = builder.build();
        // What came back is compared with what it has to be, and told, to be compared with the other run's.
        MessageDigest answers = sha256();
        answers.update(unary(channel));
        answers.update(down(channel));
        answers.update(up(channel));
        answers.update(both(channel));
        System.out.println("answers " + HexFormat.of().formatHex(answers.digest()));
        measure(channel, WARM_UP);
        System.out.println("calls per second " + measure(channel, MEASURED));
        requireEnded(channel.shutdown().awaitTermination(SECONDS, TimeUnit.SECONDS), "channel");
        System.out.println("client done");
    }

    private static void requireEnded(boolean ended, String what) {
        if (!ended) {
            throw new IllegalStateException("the " + what + " has not ended within " + SECONDS + " s");
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static void require(boolean good, String what) {
        if (!good) {
            throw new IllegalStateException("wrong answer: " + what);
        }
    }

    private static byte[] unary(ManagedChannel channel) {
        for (int length : new int[] {0, 1, 1000, 65_536, LARGE}) {
            byte[] answer = ClientCalls.blockingUnaryCall(channel, UNARY, io.grpc.CallOptions.DEFAULT, random(length));
            require(Arrays.equals(reversed(random(length)), answer), "unary of " + length);
        }
        return reversed(random(LARGE));
    }

    private static byte[] down(ManagedChannel channel) {
        Iterator<byte[]> answers =
                ClientCalls.blockingServerStreamingCall(channel, DOWN, io.grpc.CallOptions.DEFAULT, random(STREAMED));
        int count = 0;
        while (answers.hasNext()) {
            require(Arrays.equals(Arrays.copyOf(random(STREAMED), count), answers.next()), "down, message " + count);
            count++;
        }
        require(count == STREAMED, "down, number " + count);
        return new byte[] {(byte) count};
    }

    private static byte[] up(ManagedChannel channel) throws Exception {
        Collector collector = new Collector();
        StreamObserver<byte[]> requests = ClientCalls.asyncClientStreamingCall(
                channel.newCall(UP, io.grpc.CallOptions.DEFAULT), collector);
        MessageDigest digest = sha256();
        for (int count = 0; count < STREAMED; count++) {
            requests.onNext(random(count * 10));
            digest.update(random(count * 10));
        }
        requests.onCompleted();
        List<byte[]> answers = collector.done.get(SECONDS, TimeUnit.SECONDS);
        require(answers.size() == 1 && Arrays.equals(digest.digest(), answers.getFirst()), "up");
        return answers.getFirst();
    }

    private static byte[] both(ManagedChannel channel) throws Exception {
        Collector collector = new Collector();
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(BOTH, io.grpc.CallOptions.DEFAULT), collector);
        for (int count = 0; count < STREAMED; count++) {
            requests.onNext(random(count * 10));
        }
        requests.onCompleted();
        List<byte[]> answers = collector.done.get(SECONDS, TimeUnit.SECONDS);
        require(answers.size() == STREAMED, "both, number " + answers.size());
        MessageDigest digest = sha256();
        for (int count = 0; count < STREAMED; count++) {
            require(Arrays.equals(reversed(random(count * 10)), answers.get(count)), "both, message " + count);
            digest.update(answers.get(count));
        }
        return digest.digest();
    }

    private static final class Collector implements StreamObserver<byte[]> {

        private final List<byte[]> answers = new ArrayList<>();
        private final CompletableFuture<List<byte[]>> done = new CompletableFuture<>();

        @Override
        public void onNext(byte[] answer) {
            answers.add(answer);
        }

        @Override
        public void onError(Throwable t) {
            done.completeExceptionally(t);
        }

        @Override
        public void onCompleted() {
            done.complete(answers);
        }
    }

    private static long measure(ManagedChannel channel, int calls) {
        byte[] request = random(100);
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) {
            ClientCalls.blockingUnaryCall(channel, UNARY, io.grpc.CallOptions.DEFAULT, request);
        }
        return calls * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
    }
}
