// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.lane.Lane;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a lane looks for its peer; on a loop whose time stands still. */
class PeerWatchTest {

    private static final int MILLIS = 30_000;
    private static final int BETWEEN_LOOKS = MILLIS / 15;

    private boolean unanswered;
    private int looks;
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Lane lane = (Lane) Proxy.newProxyInstance(Lane.class.getClassLoader(), new Class<?>[]{Lane.class},
            (proxy, method, arguments) -> {
                assertEquals("checkPeer", method.getName());
                assertEquals(MILLIS, arguments[0]);
                looks++;
                return unanswered;
            });
    private final PeerWatch watch = new PeerWatch(channel.eventLoop(), lane, MILLIS);

    @BeforeEach
    void time() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void pass(int millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private boolean isScheduled() {
        return channel.runScheduledPendingTasks() >= 0;
    }

    @Test
    void nothingIsLookedForBeforeAWrite() {
        assertFalse(isScheduled());
        pass(MILLIS);
        assertEquals(0, looks);
    }

    @Test
    void itLooksForAsLongAsSomethingIsNotAcknowledged() {
        unanswered = true;
        watch.written();
        for (int look = 1; look <= 20; look++) {
            pass(BETWEEN_LOOKS - 1);
            assertEquals(look - 1, looks);
            pass(1);
            assertEquals(look, looks);
        }
        unanswered = false;
        pass(BETWEEN_LOOKS);
        assertEquals(21, looks);
        assertFalse(isScheduled(), "another look though all has been acknowledged");
    }

    @Test
    void whileBytesGoLooksFollowEachOtherAndTheyEndWhenNoneGo() {
        watch.written();
        for (int look = 1; look <= 5; look++) {
            pass(BETWEEN_LOOKS);
            assertEquals(look, looks);
            assertTrue(isScheduled(), "no look to come though something has been written since the last one");
            watch.written();
        }
        pass(BETWEEN_LOOKS);
        assertEquals(6, looks);
        assertTrue(isScheduled());
        pass(BETWEEN_LOOKS);
        assertEquals(7, looks);
        assertFalse(isScheduled(), "a look to come for a connection over which nothing goes");
        pass(MILLIS);
        assertEquals(7, looks);
        watch.written();
        pass(BETWEEN_LOOKS);
        assertEquals(8, looks);
    }

    @Test
    void itLooksNoMoreWhenItIsClosed() {
        unanswered = true;
        watch.written();
        pass(BETWEEN_LOOKS);
        watch.close();
        pass(MILLIS);
        assertEquals(1, looks);
    }
}
