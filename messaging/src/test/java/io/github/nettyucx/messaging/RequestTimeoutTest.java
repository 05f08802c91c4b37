// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.Channel;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** How exactly the time of a request is kept for which no thread waits. */
@Timeout(60)
class RequestTimeoutTest {

    private static final RequestType<String, String> ASK =
            new RequestType<>(1, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final long BOUND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int ROUNDS = 6;
    /** In a round, all at the same time. */
    private static final int REQUESTS = 50;
    /** All but one in so many: a host may have taken a processor away, which nobody here is told of. */
    private static final int MOST_ARE_IN_TIME = 50;

    /** Of which nobody takes the answer. */
    private static final class Asked implements ResponseHandler<String> {

        private final CompletableFuture<Long> ended = new CompletableFuture<>();
        private final long nanos;
        private long begun;
        private long sent;

        Asked(long nanos) {
            this.nanos = nanos;
        }

        void ask(Peer peer) {
            begun = System.nanoTime();
            peer.requestAsync(ASK, "?", Duration.ofNanos(nanos), this);
            sent = System.nanoTime();
        }

        @Override
        public void onResponse(String response) {
            ended.completeExceptionally(new AssertionError("answered"));
        }

        @Override
        public void onFailure(MessagingException cause) {
            long now = System.nanoTime();
            if (cause instanceof MessagingException.RequestTimeout) {
                ended.complete(now);
            } else {
                ended.completeExceptionally(cause);
            }
        }
    }

    private static List<Asked> round(Peer peer, SplittableRandom random) throws Exception {
        List<Asked> all = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            all.add(new Asked(random.nextLong(1, LONGEST_NANOS)));
            all.get(i).ask(peer);
        }
        for (Asked each : all) {
            each.ended.get(20, TimeUnit.SECONDS);
        }
        return all;
    }

    /** What the machine itself has delayed meanwhile does not count. */
    @ParameterizedTest
    @EnumSource
    void aRequestEndsWhenItsTimeIsOverAndNotMuchLater(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var client = new AtomicReference<Channel>();
            Node one = nodes.start(1, builder -> builder.handlers(client::set, server -> { }));
            nodes.start(2).onRequest(ASK, (from, request, responder) -> responder.detach());
            Peer peer = one.peer(2);
            var random = new SplittableRandom(transport.ordinal());
            // Classes are loaded, and methods compiled.
            round(peer, random);
            List<Asked> all = new ArrayList<>();
            var stalls = new Stalls(client.get().eventLoop());
            try (stalls) {
                for (int i = 0; i < ROUNDS; i++) {
                    all.addAll(round(peer, random));
                }
            }
            long worst = 0;
            long[] ours = new long[all.size()];
            int count = 0;
            for (Asked each : all) {
                long ended = each.ended.get();
                assertTrue(ended - each.begun >= each.nanos, () -> "a request of " + each.nanos + " ns ended after "
                        + (ended - each.begun));
                long late = ended - each.sent - each.nanos;
                worst = Math.max(worst, late);
                ours[count++] = late - (late > 0 ? stalls.between(ended - late, ended) : 0);
            }
            Arrays.sort(ours);
            long nearlyAll = ours[count - 1 - count / MOST_ARE_IN_TIME];
            String told = String.format("%s: late by %.1f ms at most; beside what the machine has delayed, nearly all"
                    + " by %.1f ms at most", transport, worst / 1e6, nearlyAll / 1e6);
            System.out.println(told);
            assertTrue(nearlyAll <= BOUND_NANOS, told);
        }
    }
}
