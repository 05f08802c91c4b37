// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.ref.WeakReference;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a thread sends with is its own, also where an application's threads say that they are equal. */
@Timeout(60)
class OutboxTest {

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
    void aThreadKeepsItsOutbox() throws Exception {
        SynchronousQueue<Integer> told = new SynchronousQueue<>();
        SynchronousQueue<String> on = new SynchronousQueue<>();
        FutureTask<Boolean> first = new FutureTask<>(() -> {
            WeakReference<Outbox> own = new WeakReference<>(use());
            told.put(1);
            on.take();
            return own.refersTo(use());
        });
        new Equal(first).start();
        told.take();
        FutureTask<Outbox> second = new FutureTask<>(OutboxTest::use);
        new Equal(second).start();
        second.get();
        WeakReference<Object> canary = new WeakReference<>(new Object());
        while (canary.get() != null) {
            System.gc();
        }
        on.put("go on");
        assertTrue(first.get(40, TimeUnit.SECONDS), "it has another one");
    }

    private static Outbox use() {
        Outbox outbox = Outbox.begin();
        outbox.end();
        return outbox;
    }
}
