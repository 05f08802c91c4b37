// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Tag;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** A worker whose peers send more than it takes. Both sides are driven by the test's thread, turn by turn. */
@Tag("ucx-matrix")
class BusyWorkerTest {

    private static final int BUSY_ID = 4711;
    private static final int DYING_ID = -4712;
    private static final int LENGTH = 8;
    /** Several turns' worth. */
    private static final int WAITING = 2000;
    private static final int LAST_WORDS = 100;
    private static final int MESSAGES_PER_PAUSE = 64;
    private static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private EnginePair engines;
    private EnginePair.Both busy;
    private EnginePair.Both dying;
    private Worker worker;
    private int sent;
    private int taken;
    private int lastWords;
    private int told;

    @OnEachLane(linksOnly = true)
    void theEndOfAControlSocketIsToldWhileOthersSendMoreThanIsTaken() throws Exception {
        // Connections share a link, and so what the dying one has sent stands behind what the busy one has.
        run(false, () -> worker.afterArrived(() -> told(UcsStatus.OK)));
    }

    @OnEachLane(linksOnly = true)
    void theFailureOfALinkIsToldWhileOthersSendMoreThanIsTaken() throws Exception {
        run(true, () -> {
            dying.here().add(this::told);
            dying.here().onError(null, UcsStatus.ERR_CONNECTION_RESET);
        });
        assertFalse(dying.here().isOpen());
    }

    private void told(int status) {
        assertEquals(LAST_WORDS, lastWords, "what came before the end");
        told++;
    }

    private void run(boolean ownLink, Runnable end) throws Exception {
        try (EnginePair pair = new EnginePair(LENGTH)) {
            engines = pair;
            busy = pair.connect();
            dying = ownLink ? pair.connect() : busy;
            worker = busy.here().worker();
            assertEquals(worker, dying.here().worker());
            busy.here().register(BUSY_ID, (tag, message, length) -> {
                EnginePair.discard(busy.here(), message);
                if (++taken % MESSAGES_PER_PAUSE == 0) {
                    holdUp();
                }
            });
            dying.here().register(DYING_ID, (tag, message, length) -> {
                EnginePair.discard(dying.here(), message);
                lastWords++;
            });

            until(() -> sent - taken >= WAITING && taken > WAITING, "no load");
            for (int i = 0; i < LAST_WORDS; i++) {
                pair.send(dying.there(), LENGTH, DYING_ID);
            }
            // UCX has them all, and not all of them have been taken.
            EnginePair.until(() -> !pair.isSending(), () -> {
                pair.there.poll();
                worker.settle();
            }, "the last words do not arrive");
            end.run();
            assertEquals(0, told);
            until(() -> told > 0, "the end is not told");
            until(() -> taken > 2 * WAITING + sent / 2, "the others do not go on");
            assertEquals(1, told);

            pair.until(() -> sent == taken && !pair.isSending(), "messages of the others got lost");
            dying.close();
            busy.close();
        }
    }

    /** Turns of both sides; there is more on its way before each than the receiver takes in one. */
    private void until(BooleanSupplier condition, String otherwise) {
        EnginePair.until(condition, () -> {
            while (sent - taken < 2 * WAITING) {
                sent++;
                engines.send(busy.there(), LENGTH, BUSY_ID);
            }
            engines.there.poll();
            engines.here.poll();
            engines.isSending();
        }, otherwise);
    }

    /** As a handler does that takes its time; the peers go on meanwhile. */
    private void holdUp() {
        long start = System.nanoTime();
        do {
            engines.there.poll();
        } while (System.nanoTime() - start < HELD_UP_NANOS);
    }
}
