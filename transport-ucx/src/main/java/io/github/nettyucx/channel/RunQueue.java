// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/**
 * Whether a thread has to wait for its processor, because others have it: what the kernel counts of that in
 * {@code schedstat} (see {@code Documentation/scheduler/sched-stats.rst} of Linux). Only for one thread.
 * <p>
 * Measured with loops that sleep after each message: one that is alone on its processor waits for a twentieth of the time for
 * which it runs, one that shares it with its peer for a half, and one of eight on two processors for one and a half times
 * that time.
 */
final class RunQueue {

    static final String FILE = "/proc/thread-self/schedstat";

    /** A thread that waits for more than this share of the time for which it runs is not alone: a quarter. */
    private static final int ALONE = 4;

    private final File file;
    private final byte[] text = new byte[64];
    private long ran;
    private long waited;

    RunQueue() {
        this(FILE);
    }

    /** @param file in place of the kernel's, for tests */
    RunQueue(String file) {
        this.file = new File(file);
    }

    /**
     * Whether others have had the thread's processor since the last call, or since the thread began. A few system calls, and
     * some 200 bytes of heap: for what is asked once in a thousand sleeps or so. The file is not kept open, so that a loop needs no
     * descriptor more.
     *
     * @return {@code false} if it is not known
     */
    boolean isShared() {
        try (FileInputStream figures = new FileInputStream(file)) {
            return isShared(figures.read(text));
        } catch (IOException e) {
            // The kernel does not count, or tells nobody, or there are no descriptors left at the moment.
            return false;
        }
    }

    /** Nanoseconds for which the thread has run, and waited to run, and how often; with spaces between. */
    private boolean isShared(int length) {
        long value = 0;
        long runs = -1;
        for (int i = 0; i < length; i++) {
            int digit = text[i] - '0';
            if (digit >= 0 && digit <= 9) {
                value = 10 * value + digit;
            } else if (runs < 0) {
                runs = value;
                value = 0;
            } else {
                boolean shared = value - waited > (runs - ran) / ALONE;
                ran = runs;
                waited = value;
                return shared;
            }
        }
        return false;
    }
}
