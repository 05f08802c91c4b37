// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.socket.SocketBinding;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Binds the calls of the C library, in a thread of its own, which ends with that, while the application's makes itself ready
 * for its first loop, which has to wait for them.
 * <p>
 * Begins when the class of a group is loaded: who loads it makes one, nearly always. What is done ahead is nothing that
 * anybody could see who does not: UCX is not looked for, and no logging is set up before the application has done it.
 */
final class Preloading {

    private static final AtomicBoolean begun = new AtomicBoolean();

    private Preloading() {
    }

    /** Begins, if nobody has yet. */
    static void begin(ClassLoader own) {
        if (begun.get() || !begun.compareAndSet(false, true)) {
            return;
        }
        // The application's class loader is not to be held by it.
        Thread.ofPlatform().daemon().name("netty-ucx-agent").inheritInheritableThreadLocals(false).start(new Runnable() {
            @Override
            public void run() {
                try {
                    BindingModule.defineFor(own);
                    UcxLibrary.prepare();
                    SocketBinding.prepare();
                } catch (Throwable t) {
                    // Whoever needs it tries for himself, and tells.
                }
            }
        });
    }
}
