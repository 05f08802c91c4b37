// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Progresses some workers, all of the calling thread, until something has come about. */
final class Loop {

    private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private final UcpWorker[] workers;

    Loop(UcpWorker... workers) {
        this.workers = workers;
    }

    void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            progress();
            assertTrue(System.nanoTime() - start < DEADLINE_NANOS, () -> "did not happen in time: " + what);
        }
    }

    /** Waits for an operation, and frees its request; returns its status. */
    int status(String what, long statusPointer) {
        if (!UcsStatus.isRequest(statusPointer)) {
            return (int) statusPointer;
        }
        until(what, () -> UcpRequest.checkStatus(statusPointer) != UcsStatus.INPROGRESS);
        int status = UcpRequest.checkStatus(statusPointer);
        UcpRequest.free(statusPointer);
        return status;
    }

    void complete(String what, long statusPointer) throws UcxException {
        UcsStatus.check(what, status(what, statusPointer));
    }

    void progress() {
        for (UcpWorker worker : workers) {
            if (!worker.isClosed()) {
                worker.progress();
            }
        }
    }
}
