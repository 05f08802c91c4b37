// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Waits for a worker as its users do. */
final class EventFd {

    static final int WAIT_MILLIS = 20_000;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle POLL = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("poll"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final short READABLE = 1;

    private EventFd() {
    }

    /** As every user must: there may be something to progress first. */
    static void arm(UcpWorker worker) {
        int status;
        do {
            while (worker.progress() != 0) {
                // Until there is nothing left.
            }
            status = worker.arm();
        } while (status == UcsStatus.ERR_BUSY);
        assertEquals(UcsStatus.OK, status);
    }

    /** {@code poll(2)} for readability; returns 1, or 0 if the time is over. */
    static int poll(UcpWorker worker, int millis) throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pollfd = arena.allocate(8, 4);
            pollfd.set(ValueLayout.JAVA_INT, 0, worker.eventFd());
            pollfd.set(ValueLayout.JAVA_SHORT, 4, READABLE);
            return (int) POLL.invokeExact(pollfd, 1L, millis);
        } catch (UcxException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
