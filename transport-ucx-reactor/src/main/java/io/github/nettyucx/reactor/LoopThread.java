// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.netty.util.concurrent.FastThreadLocalThread;
import reactor.core.scheduler.NonBlocking;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** A loop's thread. By its interface Reactor knows that {@code block()} in it has to be refused. */
final class LoopThread extends FastThreadLocalThread implements NonBlocking {

    private LoopThread(Runnable target, String name) {
        super(target, name);
    }

    static final class Factory implements ThreadFactory {

        private final String prefix;
        private final boolean daemon;
        private final AtomicInteger count = new AtomicInteger();

        Factory(String prefix, boolean daemon) {
            this.prefix = prefix;
            this.daemon = daemon;
        }

        @Override
        public Thread newThread(Runnable target) {
            Thread thread = new LoopThread(target, prefix + count.incrementAndGet());
            thread.setDaemon(daemon);
            return thread;
        }
    }
}
