// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.cluster.ClusterNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A leader may do what only one may for no longer than nobody else can be chosen. */
class LeaseTest {
    private static final long LENGTH = Lease.LENGTH.toNanos();

    private final List<CompletableFuture<Void>> asked = new ArrayList<>();
    private long now = Long.MAX_VALUE - LENGTH;
    private int renewals;
    private final Lease lease = new Lease(() -> now);

    private void renew() {
        lease.renew(() -> {
            asked.add(new CompletableFuture<>());
            return asked.getLast();
        }, Runnable::run, () -> renewals++);
    }

    @Test
    void itCountsFromWhenItWasAskedFor() {
        assertTrue(LENGTH < ClusterNode.ELECTION_TIMEOUT.toNanos());
        assertFalse(lease.isValid());
        renew();
        now += LENGTH / 2;
        // One question at a time.
        renew();
        assertEquals(1, asked.size());
        asked.getFirst().complete(null);
        assertEquals(1, renewals);
        assertTrue(lease.isValid());
        now += LENGTH / 2 - 1;
        assertTrue(lease.isValid());
        now++;
        assertFalse(lease.isValid());
    }

    @Test
    void anAnswerAfterALongStopIsWorthNothing() {
        renew();
        now += LENGTH;
        asked.getFirst().complete(null);
        assertFalse(lease.isValid());
        renew();
        asked.getLast().complete(null);
        assertTrue(lease.isValid());
    }

    @Test
    void withoutAnAnswerItEnds() {
        renew();
        asked.getFirst().complete(null);
        now += LENGTH / 2;
        renew();
        asked.getLast().completeExceptionally(new IllegalStateException("no majority"));
        assertTrue(lease.isValid());
        assertEquals(1, renewals);
        now += LENGTH / 2;
        assertFalse(lease.isValid());
    }

    @Test
    void itIsNotAskedForAllTheTime() {
        renew();
        asked.getFirst().complete(null);
        renew();
        now += LENGTH / 4 - 1;
        renew();
        assertEquals(1, asked.size());
        now++;
        renew();
        assertEquals(2, asked.size());
    }
}
