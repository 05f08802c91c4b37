// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.grpc.proto.CallId;
import io.github.nettyucx.examples.grpc.proto.CallState;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** What the server's {@link CallWitness} tells the client about its calls. */
final class CallRecords {
    private static final long POLL_MILLIS = 10;

    private final GrpcClient client;

    CallRecords(GrpcClient client) {
        this.client = client;
    }

    String newId() {
        return UUID.randomUUID().toString();
    }

    /** A stub whose calls the server remembers by this name. */
    <S extends AbstractStub<S>> S named(S stub, String id) {
        var headers = new Metadata();
        headers.put(CallWitness.CALL_ID, id);
        return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    CallState stateOf(String id) {
        return ExerciseGrpc.newBlockingStub(client.channel())
                .withDeadlineAfter(CallChecks.PATIENCE_SECONDS, TimeUnit.SECONDS)
                .stateOf(CallId.newBuilder().setId(id).build());
    }

    /** The server learns of it a moment later than the client. */
    void awaitCancelled(String id) throws InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CallChecks.PATIENCE_SECONDS);
        while (!stateOf(id).getCancelled()) {
            if (System.nanoTime() > deadline) {
                throw new ExampleFailure("the server was never told that the call is over");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    /** A status and what is behind it, in words. */
    static String told(StatusRuntimeException failure) {
        return failure.getMessage() + (failure.getCause() == null ? "" : ": " + Explanation.of(failure.getCause()));
    }
}
