// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Tag;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A worker that many peers share, and one of them has died, or is stopped for ever, in the middle of a message: UCX
 * never completes its receive. Here the peer's loop just turns no more.
 */
@Tag("ucx-matrix")
class StuckWorkerTest {

    private static final int STOPPED_ID = 1;
    private static final int LIVING_ID = 2;
    /** Of messages in several fragments, some of which fit into what is between the two when others do not. */
    private static final int[] LENGTHS = {500_000, 700_000, 300_000, 64_000, 12_000};
    private static final int LONGEST = 700_000;
    private static final long TOO_EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

    private record Receive(long request, ByteBuf memory) {
    }

    private final List<Receive> receives = new ArrayList<>();
    private EnginePair engines;
    private EnginePair.Both stopped;
    private EnginePair.Both living;
    private int answers;
    private int received;

    /** Over RDMA the device goes on with what it has been given, whether or not the loop turns. */
    @OnEachLane(lanes = {Lane.SHM, Lane.TCP}, timeoutSeconds = 120)
    void aReceiveThatNeverCompletesEndsTheUseOfItsWorker() throws Exception {
        try (EnginePair pair = new EnginePair(LONGEST); EnginePair others = new EnginePair(LONGEST)) {
            engines = pair;
            stopped = pair.connect();
            Worker stuck = stopped.here().worker();
            // The worker's other peer is an engine of its own, whose turns go on.
            Worker other = others.workerThere();
            Link here = stuck.connect(other.address());
            living = new EnginePair.Both(here, other.connect(stuck.address()));
            living.here().register(LIVING_ID, (tag, message, length) -> {
                EnginePair.discard(living.here(), message);
                answers++;
            });
            stopInTheMiddleOfAMessage();

            long start = System.nanoTime();
            Receive last = closeTheChannel();
            assertEquals(1, stuck.orphanCount());
            assertEquals(1, last.memory.refCnt());
            EnginePair.until(stuck::isRetired, () -> {
                turn(others);
                boolean early = stuck.isRetired() && System.nanoTime() - start < TOO_EARLY_NANOS;
                assertFalse(early, "UCX completes others later than that");
            }, "goes on with a receive that never completes");

            Worker fresh = pair.workerHere();
            // It has no link, and would be given back if this thread stood still for a second.
            fresh.pin();
            assertNotSame(stuck, fresh);
            assertSame(fresh, pair.workerHere());
            int before = answers;
            others.send(living.there(), 8, LIVING_ID);
            EnginePair.until(() -> answers > before, () -> turn(others), "the links of a retired worker go on");
            assertEquals(2, pair.here.workerCount());
            fresh.unpin();
            assertEquals(1, last.memory.refCnt(), "UCX may still write there");

            living.close();
            EnginePair.until(() -> last.memory.refCnt() == 0, () -> turn(others), "the worker is kept for ever");
            assertEquals(0, pair.here.orphanCount());
            pair.abandonSends();
            stopped.there().close();
        }
    }

    private void turn(EnginePair others) {
        engines.here.poll();
        others.there.poll();
        others.isSending();
    }

    /** Fills what is between the two, and has the peer stop. */
    private void stopInTheMiddleOfAMessage() {
        stopped.here().register(STOPPED_ID, (tag, message, length) -> receive(message, (int) length));
        engines.send(stopped.there(), 8, STOPPED_ID);
        engines.until(() -> received > 0 && !engines.isSending(), "nothing arrives");
        freeReceives();
        for (int length : LENGTHS) {
            while (!engines.isSending()) {
                engines.send(stopped.there(), length, STOPPED_ID);
            }
            for (int turns = 0; turns < 1_000; turns++) {
                engines.here.poll();
            }
            freeReceives();
            if (!receives.isEmpty()) {
                return;
            }
            engines.until(() -> !engines.isSending(), "sends do not complete");
        }
        throw new AssertionError("no message was received in part");
    }

    private void receive(long message, int length) {
        received++;
        ByteBuf memory = Unpooled.directBuffer(length);
        long request = stopped.here().receive(message, BufferAddress.of(memory, 0, length), length);
        assertTrue(request >= 0, () -> "status " + request);
        if (request > 0) {
            receives.add(new Receive(request, memory));
        } else {
            memory.release();
        }
    }

    private void freeReceives() {
        receives.removeIf(receive -> {
            boolean complete = stopped.here().status(receive.request) != UcsStatus.INPROGRESS;
            if (complete) {
                stopped.here().free(receive.request);
                receive.memory.release();
            }
            return complete;
        });
    }

    /** Its control socket has told that the peer has gone. @return the receive that does not complete */
    private Receive closeTheChannel() {
        stopped.here().unregister(STOPPED_ID);
        assertEquals(1, receives.size());
        Receive last = receives.getFirst();
        stopped.here().abandon(last.request, last.memory);
        stopped.here().close();
        EnginePair.until(() -> last.memory.refCnt() == 1 && stopped.here().worker().orphanCount() == 1,
                engines.here::poll, "the link is not closed");
        return last;
    }
}
