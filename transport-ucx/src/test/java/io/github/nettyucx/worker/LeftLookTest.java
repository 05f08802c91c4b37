// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * A turn that was to end in a sleep has left the look at the sockets to that, and ends in timers: what is read from the
 * sockets is read before them, and not only in the next turn.
 */
class LeftLookTest {

    private int ran;

    @Test
    void whatTheSocketsHaveToBeDoneIsDone() throws Exception {
        ProgressEngine engine = new ProgressEngine("left look", new Counters<>(WorkerCounter.class));
        // One that is not connected says so as long as it is asked.
        try (KernelSocket socket = KernelSocket.stream(false)) {
            engine.watch(socket, Epoll.OUT, _ -> engine.schedule(() -> ran++));
            engine.sleepsNext();
            assertEquals(0, engine.poll());
            assertEquals(0, ran);
            assertEquals(2, engine.makeUp(), "a socket, and what it has scheduled");
            assertEquals(1, ran);
            assertEquals(0, engine.makeUp());
            engine.unwatch(socket);
        } finally {
            engine.close();
        }
    }
}
