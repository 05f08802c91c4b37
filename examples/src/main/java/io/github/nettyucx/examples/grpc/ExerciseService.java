// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.grpc.proto.CallId;
import io.github.nettyucx.examples.grpc.proto.CallState;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseImplBase;
import io.github.nettyucx.examples.grpc.proto.Failure;
import io.github.nettyucx.examples.grpc.proto.Order;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.github.nettyucx.examples.grpc.proto.Summary;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.zip.CRC32C;

/** The service as it would look on any transport. */
final class ExerciseService extends ExerciseImplBase {
    private final CallWitness witness;

    ExerciseService(CallWitness witness) {
        this.witness = witness;
    }

    @Override
    public void return_(Payload request, StreamObserver<Payload> replies) {
        replies.onNext(request);
        replies.onCompleted();
    }

    @Override
    public StreamObserver<Payload> sum(StreamObserver<Summary> replies) {
        return new Incoming(replies) {
            private final CRC32C checksum = new CRC32C();
            private long messages;
            private long bytes;

            @Override
            public void onNext(Payload message) {
                messages++;
                bytes += message.getData().size();
                checksum.update(message.getData().asReadOnlyByteBuffer());
            }

            @Override
            public void onCompleted() {
                replies.onNext(Summary.newBuilder().setMessages(messages).setBytes(bytes)
                        .setChecksum((int) checksum.getValue()).build());
                replies.onCompleted();
            }
        };
    }

    @Override
    public void produce(Order order, StreamObserver<Payload> replies) {
        var client = (ServerCallStreamObserver<Payload>) replies;
        client.setOnReadyHandler(new Runnable() {
            private int made;
            private boolean completed;

            @Override
            public void run() {
                while (made < order.getMessages() && client.isReady()) {
                    client.onNext(Payloads.of(order.getSeed() + made, order.getSize()));
                    made++;
                }
                if (made == order.getMessages() && !completed) {
                    completed = true;
                    client.onCompleted();
                }
            }
        });
    }

    @Override
    public StreamObserver<Payload> returnEach(StreamObserver<Payload> replies) {
        return new Incoming(replies) {
            @Override
            public void onNext(Payload message) {
                replies.onNext(message);
            }

            @Override
            public void onCompleted() {
                replies.onCompleted();
            }
        };
    }

    @Override
    public StreamObserver<Payload> ignore(StreamObserver<Summary> replies) {
        ((ServerCallStreamObserver<Summary>) replies).disableAutoRequest();
        return new Incoming(replies) {
            @Override
            public void onNext(Payload message) {
                throw new IllegalStateException("a message that nobody asked for");
            }

            @Override
            public void onCompleted() {
                throw new IllegalStateException("an end before the messages that come first");
            }
        };
    }

    @Override
    public void fail(Failure failure, StreamObserver<Payload> replies) {
        replies.onError(Status.fromCodeValue(failure.getCode()).withDescription(failure.getDescription())
                .asRuntimeException());
    }

    @Override
    public void stateOf(CallId call, StreamObserver<CallState> replies) {
        replies.onNext(witness.stateOf(call.getId()));
        replies.onCompleted();
    }

    /** Messages of a client; where it gives up there is nobody left to tell. */
    private abstract static class Incoming implements StreamObserver<Payload> {
        private Incoming(StreamObserver<?> replies) {
            // Without it, replies to a client that has cancelled are an error.
            ((ServerCallStreamObserver<?>) replies).setOnCancelHandler(() -> { });
        }

        @Override
        public void onError(Throwable failure) {
        }
    }
}
