// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import static io.github.nettyucx.examples.Checks.require;
import static io.github.nettyucx.examples.Checks.requireEqual;
import static io.github.nettyucx.examples.grpc.CallChecks.PATIENCE_SECONDS;

import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseStub;
import io.github.nettyucx.examples.grpc.proto.Order;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.github.nettyucx.examples.grpc.proto.Summary;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;

/** The part of {@link CallChecks} that is about streams of messages. */
final class StreamChecks {
    private static final int MESSAGES = 200;
    private static final int LARGEST = 40_000;
    /** Of the checks of flow control: 16 MiB altogether, of which a window holds little. */
    private static final int FLOOD_MESSAGES = 1024;
    private static final int FLOOD_SIZE = 16 * 1024;
    /** Of one direction: the window, and what is ready to be sent. */
    private static final int MOST_IN_FLIGHT = 2 * GrpcServer.WINDOW;
    private static final long DEADLINE_MILLIS = 200;
    private static final long STANDSTILL_MILLIS = 250;

    private final GrpcClient client;
    private final CallRecords records;

    StreamChecks(GrpcClient client, CallRecords records) {
        this.client = client;
        this.records = records;
    }

    private ExerciseStub stub() {
        return ExerciseGrpc.newStub(client.channel()).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    void clientStreaming() throws InterruptedException {
        var replies = new Replies<Summary>();
        var requests = stub().sum(replies);
        var sizes = new Random(1);
        var checksum = new CRC32C();
        var bytes = 0L;
        for (var i = 0; i < MESSAGES; i++) {
            var message = Payloads.of(i, sizes.nextInt(LARGEST));
            checksum.update(message.getData().asReadOnlyByteBuffer());
            bytes += message.getData().size();
            requests.onNext(message);
        }
        requests.onCompleted();
        requireEqual(Summary.newBuilder().setMessages(MESSAGES).setBytes(bytes)
                .setChecksum((int) checksum.getValue()).build(), replies.next(), "what the server got");
        replies.requireCompleted();
    }

    void serverStreaming() throws InterruptedException {
        var replies = new Replies<Payload>();
        stub().produce(Order.newBuilder().setMessages(MESSAGES).setSize(LARGEST).setSeed(7).build(), replies);
        for (var i = 0; i < MESSAGES; i++) {
            require(replies.next().equals(Payloads.of(7 + i, LARGEST)), "message " + i + " holds other bytes");
        }
        replies.requireCompleted();
    }

    /** As a conversation first, then both directions at once. */
    void bidirectionalStreaming() throws InterruptedException {
        var replies = new Replies<Payload>();
        var requests = stub().returnEach(replies);
        for (var i = 0; i < MESSAGES; i++) {
            requests.onNext(Payloads.of(i, i));
            require(replies.next().equals(Payloads.of(i, i)), "reply " + i + " holds other bytes");
        }
        var sizes = new Random(2);
        for (var i = 0; i < MESSAGES; i++) {
            requests.onNext(Payloads.of(i, sizes.nextInt(LARGEST)));
        }
        requests.onCompleted();
        sizes.setSeed(2);
        for (var i = 0; i < MESSAGES; i++) {
            require(replies.next().equals(Payloads.of(i, sizes.nextInt(LARGEST))), "reply " + i + " holds other bytes");
        }
        replies.requireCompleted();
    }

    void deadline() throws InterruptedException {
        var id = records.newId();
        var replies = new Replies<Summary>();
        var start = System.nanoTime();
        records.named(ExerciseGrpc.newStub(client.channel()), id)
                .withDeadlineAfter(DEADLINE_MILLIS, TimeUnit.MILLISECONDS).ignore(replies);
        var status = replies.end();
        var millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        requireEqual(Status.Code.DEADLINE_EXCEEDED, status.getCode(), "the status");
        require(millis >= DEADLINE_MILLIS, "the deadline was over " + (DEADLINE_MILLIS - millis) + " ms too early");
        records.awaitCancelled(id);
    }

    void cancellation() throws InterruptedException {
        var id = records.newId();
        var replies = new Replies<Payload>();
        var requests = (ClientCallStreamObserver<Payload>) records.named(stub(), id).returnEach(replies);
        requests.onNext(Payloads.of(1, 1));
        replies.next();
        requests.cancel("no more is wanted", null);
        requireEqual(Status.Code.CANCELLED, replies.end().getCode(), "the status");
        records.awaitCancelled(id);
    }

    /** A client that stops asking for messages stops the server, and gets all of them later. */
    void slowClient() throws InterruptedException {
        var id = records.newId();
        var replies = new UnaskedReplies();
        records.named(stub(), id)
                .produce(Order.newBuilder().setMessages(FLOOD_MESSAGES).setSize(FLOOD_SIZE).build(), replies);
        replies.calls.request(1);
        require(replies.next().equals(Payloads.of(0, FLOOD_SIZE)), "the first message holds other bytes");
        requireBounded(standstill(() -> records.stateOf(id).getSent()));
        replies.calls.request(FLOOD_MESSAGES);
        for (var i = 1; i < FLOOD_MESSAGES; i++) {
            require(replies.next().equals(Payloads.of(i, FLOOD_SIZE)), "message " + i + " holds other bytes");
        }
        replies.requireCompleted();
    }

    /** A server that does not ask for messages stops the client. */
    void slowServer() throws InterruptedException {
        var id = records.newId();
        var replies = new Flood();
        records.named(stub(), id).ignore(replies);
        requireBounded(standstill(replies.sent::get));
        replies.calls.cancel("enough", null);
        requireEqual(Status.Code.CANCELLED, replies.end().getCode(), "the status");
        records.awaitCancelled(id);
    }

    /** Waits until a count grows no more. One that stands still below the window is of a machine that is slow. */
    private static long standstill(LongSupplier count) throws InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        var last = 0L;
        while (true) {
            TimeUnit.MILLISECONDS.sleep(STANDSTILL_MILLIS);
            var now = count.getAsLong();
            if (now == last && (now + 1) * FLOOD_SIZE >= GrpcServer.WINDOW) {
                return now;
            }
            require(System.nanoTime() < deadline, "after " + PATIENCE_SECONDS + " s there is no standstill, with " + now
                    + " messages of " + FLOOD_SIZE + " bytes, and the window is " + GrpcServer.WINDOW);
            last = now;
        }
    }

    private static void requireBounded(long messages) {
        require(messages * FLOOD_SIZE <= MOST_IN_FLIGHT, messages + " messages of " + FLOOD_SIZE
                + " bytes were sent to a side that reads nothing, and the window is " + GrpcServer.WINDOW);
    }

    /** Asks for no message by itself. */
    private static final class UnaskedReplies extends Replies<Payload>
            implements ClientResponseObserver<Order, Payload> {
        private ClientCallStreamObserver<Order> calls;

        @Override
        public void beforeStart(ClientCallStreamObserver<Order> call) {
            call.disableAutoRequestWithInitial(0);
            calls = call;
        }
    }

    /** Sends whenever gRPC has place. */
    private static final class Flood extends Replies<Summary> implements ClientResponseObserver<Payload, Summary> {
        private final AtomicInteger sent = new AtomicInteger();
        private ClientCallStreamObserver<Payload> calls;

        @Override
        public void beforeStart(ClientCallStreamObserver<Payload> call) {
            calls = call;
            call.setOnReadyHandler(() -> {
                while (call.isReady() && sent.get() < FLOOD_MESSAGES) {
                    call.onNext(Payloads.of(sent.get(), FLOOD_SIZE));
                    sent.incrementAndGet();
                }
            });
        }
    }
}
