// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.ref.WeakReference;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application's threads may say that they are equal. What a thread has of its own is its own all the same. */
@Timeout(60)
class EqualThreadsTest {

    private static final class Equal extends Thread {

        Equal(Runnable work) {
            super(work);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Equal;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Test
    void aThreadKeepsWhatItsCallsNeed() throws Exception {
        SynchronousQueue<Long> told = new SynchronousQueue<>();
        SynchronousQueue<String> on = new SynchronousQueue<>();
        FutureTask<Long> first = new FutureTask<>(() -> {
            told.put(CallState.current().address(0));
            on.take();
            KernelRandom.nextInt();
            return CallState.current().address(0);
        });
        new Equal(first).start();
        long before = told.take();
        FutureTask<Integer> second = new FutureTask<>(KernelRandom::nextInt);
        new Equal(second).start();
        second.get();
        collectGarbage();
        on.put("go on");
        assertEquals(before, first.get(40, TimeUnit.SECONDS));
    }

    /** Whatever nobody holds any more is gone when this returns. */
    private static void collectGarbage() {
        WeakReference<Object> canary = new WeakReference<>(new Object());
        while (canary.get() != null) {
            System.gc();
        }
    }
}
