// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Pipe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** How many pipes a loop has, and which are used again. */
class PipePoolTest {

    private static final int MAX_IN_USE = 16;
    private static final int KEPT = 4;
    private static final int CLOSED = -1;

    private final PipePool pool = new PipePool();
    private final List<Pipe> used = new ArrayList<>();

    @AfterEach
    void close() {
        pool.close();
        used.forEach(pool::release);
    }

    private void use(int pipes) {
        for (int i = 0; i < pipes; i++) {
            Pipe pipe = pool.acquire();
            assertNotNull(pipe);
            used.add(pipe);
        }
    }

    @Test
    void soManyAreInUseAndNoMore() {
        use(MAX_IN_USE);
        assertNull(pool.acquire());
    }

    @Test
    void oneThatIsReleasedIsUsedAgain() {
        use(MAX_IN_USE);
        Pipe released = used.removeFirst();
        pool.release(released);
        use(1);
        assertSame(released, used.getLast());
        assertNull(pool.acquire());
    }

    @Test
    void oneThatIsDiscardedMakesRoomForAnother() {
        use(MAX_IN_USE);
        Pipe discarded = used.removeFirst();
        pool.discard(discarded);
        assertEquals(CLOSED, discarded.readFd());
        use(1);
        assertNull(pool.acquire());
    }

    @Test
    void fewAreKept() {
        use(KEPT + 1);
        List<Pipe> released = List.copyOf(used);
        used.clear();
        released.forEach(pool::release);
        assertEquals(KEPT, released.stream().filter(pipe -> pipe.readFd() != CLOSED).count());
    }

    @Test
    void aPoolThatIsClosedGivesNoneAndKeepsNone() {
        use(1);
        pool.close();
        assertNull(pool.acquire());
        Pipe released = used.removeFirst();
        pool.release(released);
        assertEquals(CLOSED, released.readFd());
    }
}
