// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a user interrupt a run without losing what was measured: the JVM, once it is told to end, waits until the run has
 * reported that.
 */
final class Interruption {
    private static final long REPORT_SECONDS = 30;

    /** Thrown by what takes long when the user wants no more. */
    static final class Interrupted extends RuntimeException {
        private static final long serialVersionUID = 1;

        Interrupted() {
            super("interrupted", null, false, false);
        }
    }

    private final CountDownLatch reported = new CountDownLatch(1);
    private volatile boolean requested;

    /** Listens to Ctrl-C and to SIGTERM from now on. */
    static Interruption bySignal() {
        var interruption = new Interruption();
        Runtime.getRuntime().addShutdownHook(new Thread(interruption::requestAndAwaitReport, "report-at-interrupt"));
        return interruption;
    }

    /** Has the run end soon. */
    void request() {
        requested = true;
    }

    private void requestAndAwaitReport() {
        request();
        try {
            reported.await(REPORT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isRequested() {
        return requested;
    }

    void check() {
        if (requested) {
            throw new Interrupted();
        }
    }

    /** All is reported: nothing keeps the process from ending. */
    void reported() {
        reported.countDown();
    }
}
