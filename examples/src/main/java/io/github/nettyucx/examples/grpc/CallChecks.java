// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import static io.github.nettyucx.examples.Checks.require;
import static io.github.nettyucx.examples.Checks.requireEqual;

import com.google.protobuf.ByteString;
import io.github.nettyucx.examples.Checks;
import io.github.nettyucx.examples.Checks.Action;
import io.github.nettyucx.examples.Checks.Check;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseBlockingStub;
import io.github.nettyucx.examples.grpc.proto.Failure;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Makes calls of every kind, and looks at all that comes back. */
final class CallChecks {
    /** More than any call here takes on a busy machine. */
    static final long PATIENCE_SECONDS = 60;

    private static final int MIB = 1 << 20;
    private static final int CONCURRENT_CALLS = 200;

    private final HostAndPort server;
    private final GrpcTransport transport;
    private final Path trust;
    private final GrpcClient client;
    private final CallRecords records;
    private final List<Check> checks;

    /**
     * @param trust as for {@link GrpcClient#to}
     */
    private CallChecks(HostAndPort server, GrpcTransport transport, Path trust, GrpcClient client) {
        this.server = server;
        this.transport = transport;
        this.trust = trust;
        this.client = client;
        records = new CallRecords(client);
        var streams = new StreamChecks(client, records);
        checks = List.of(
                check("unary calls, from empty to 300 kB", this::unaryCalls),
                check(CONCURRENT_CALLS + " unary calls at a time", this::concurrentCalls),
                check("messages of 16 MiB", this::largeMessages),
                check("messages above the limit", this::tooLargeMessages),
                check("client streaming", streams::clientStreaming),
                check("server streaming", streams::serverStreaming),
                check("bidirectional streaming", streams::bidirectionalStreaming),
                check("deadlines", streams::deadline),
                check("cancellation", streams::cancellation),
                check("errors", this::errors),
                check("metadata", this::metadata),
                check("flow control towards the client", streams::slowClient),
                check("flow control towards the server", streams::slowServer),
                check("TLS or none, as agreed", this::security));
    }

    /** What is checked, in words. */
    static List<String> names() {
        try (var nowhere = GrpcClient.to(new HostAndPort("localhost", 1), GrpcTransport.DEFAULT, null)) {
            return Checks.names(new CallChecks(null, null, null, nowhere).checks);
        }
    }

    /**
     * Runs all checks over one connection.
     *
     * @throws ExampleFailure if one finds something that is not as it should be
     */
    static void run(HostAndPort server, GrpcTransport transport, Path trust, Progress progress)
            throws InterruptedException {
        try (var client = GrpcClient.to(server, transport, trust)) {
            Checks.run(new CallChecks(server, transport, trust, client).checks, "", progress);
        }
    }

    /** One that fails as well where a call of it does, with what its status says. */
    private static Check check(String name, Action action) {
        return new Check(name, () -> {
            try {
                action.run();
            } catch (StatusRuntimeException e) {
                throw new ExampleFailure(CallRecords.told(e), e);
            }
        });
    }

    private ExerciseBlockingStub stub() {
        return ExerciseGrpc.newBlockingStub(client.channel()).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void unaryCalls() {
        for (var size : new int[] {0, 1, 1_000, 65_536, 300_000}) {
            var sent = Payloads.of(size, size);
            require(stub().return_(sent).equals(sent), "other bytes came back for " + size);
        }
    }

    private void concurrentCalls() throws InterruptedException {
        var calls = new ArrayList<Replies<Payload>>();
        for (var i = 0; i < CONCURRENT_CALLS; i++) {
            var replies = new Replies<Payload>();
            calls.add(replies);
            ExerciseGrpc.newStub(client.channel()).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .return_(Payloads.of(i, i * 10), replies);
        }
        for (var i = 0; i < CONCURRENT_CALLS; i++) {
            require(calls.get(i).next().equals(Payloads.of(i, i * 10)), "call " + i + " got other bytes back");
            calls.get(i).requireCompleted();
        }
    }

    private void largeMessages() throws InterruptedException {
        var sent = Payloads.of(16, 16 * MIB);
        require(stub().return_(sent).equals(sent), "other bytes came back");
        var replies = new Replies<Payload>();
        var requests = ExerciseGrpc.newStub(client.channel()).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .returnEach(replies);
        requests.onNext(sent);
        requests.onNext(sent);
        requests.onCompleted();
        for (var i = 0; i < 2; i++) {
            require(replies.next().equals(sent), "other bytes came back in a stream");
        }
        replies.requireCompleted();
    }

    private void tooLargeMessages() {
        requireStatus(Status.Code.RESOURCE_EXHAUSTED,
                () -> stub().withMaxInboundMessageSize(MIB).return_(Payloads.of(1, 2 * MIB)));
        // The connection is as good as before.
        unaryCalls();
    }

    private void errors() {
        var description = "Überlauf bei 100 %, Zeile 2";
        for (var code : List.of(Status.Code.FAILED_PRECONDITION, Status.Code.NOT_FOUND, Status.Code.DATA_LOSS)) {
            var failure = Failure.newBuilder().setCode(code.value()).setDescription(description).build();
            var status = requireStatus(code, () -> stub().fail(failure));
            requireEqual(description, status.getDescription(), "the description of " + code);
        }
    }

    private void metadata() {
        var everyByte = new byte[256];
        for (var i = 0; i < everyByte.length; i++) {
            everyByte[i] = (byte) i;
        }
        var longText = "text ".repeat(1000).strip();
        var sent = new Metadata();
        sent.put(CallWitness.CALL_ID, records.newId());
        sent.put(CallWitness.TEXT, "first");
        sent.put(CallWitness.TEXT, longText);
        sent.put(CallWitness.BINARY, everyByte);
        var headers = new AtomicReference<Metadata>();
        var trailers = new AtomicReference<Metadata>();
        stub().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(sent),
                MetadataUtils.newCaptureMetadataInterceptor(headers, trailers)).return_(Payloads.of(1, 1));
        var texts = new ArrayList<String>();
        headers.get().getAll(CallWitness.TEXT).forEach(texts::add);
        requireEqual(List.of("first", longText), texts, "the headers");
        require(Arrays.equals(everyByte, trailers.get().get(CallWitness.BINARY)), "the trailers hold other bytes");
    }

    private void security() {
        var id = records.newId();
        records.named(stub(), id).return_(Payload.getDefaultInstance());
        var protocol = records.stateOf(id).getTlsProtocol();
        requireEqual(trust == null ? "" : "TLSv1.3", protocol, "the TLS protocol that the server saw");
        if (trust != null) {
            // Neither one that was told nothing of this certificate, nor one without TLS.
            requireRefused(GrpcClient.with(server, transport, TlsChannelCredentials.create()));
            requireRefused(GrpcClient.with(server, transport, InsecureChannelCredentials.create()));
        }
    }

    private static void requireRefused(GrpcClient stranger) {
        try (stranger) {
            requireStatus(Status.Code.UNAVAILABLE, () -> ExerciseGrpc.newBlockingStub(stranger.channel())
                    .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .return_(Payload.newBuilder().setData(ByteString.copyFromUtf8("secret")).build()));
        }
    }

    private static Status requireStatus(Status.Code code, Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException e) {
            require(e.getStatus().getCode() == code, "expected " + code + ", got " + CallRecords.told(e));
            return e.getStatus();
        }
        throw new ExampleFailure("a call that should have ended with " + code + " went well");
    }
}
