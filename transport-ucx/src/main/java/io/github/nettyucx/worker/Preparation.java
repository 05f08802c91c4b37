// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.socket.SocketBinding;
import io.github.nettyucx.ucp.UcpBinding;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Makes ready what the first connection needs, in a thread of its own, which ends with that: the calls of the kernel's
 * sockets, then UCX's library, its contexts and calls, and last the classes of a connection. In a JVM that has just
 * started this takes some hundred milliseconds, and RDMA devices take long to open. An event loop would keep its other
 * channels waiting meanwhile, and a peer that waits for an answer. Who needs something before it is ready waits for the
 * rest of it.
 */
public final class Preparation {

    private static final AtomicBoolean begun = new AtomicBoolean();

    private Preparation() {
    }

    /**
     * Begins, if nobody has yet. Any thread may call; never fails.
     *
     * @param kinds what connections may use of UCX; nothing if they may not use it. Asked for in the thread that prepares
     * @param last  what is done there when UCX is ready, if it may be used
     */
    public static void begin(Supplier<List<LinkKind>> kinds, Runnable last) {
        if (begun.get() || !begun.compareAndSet(false, true)) {
            return;
        }
        try {
            Thread.ofPlatform().daemon().name("netty-ucx-prepare").inheritInheritableThreadLocals(false)
                    .start(new Runnable() {
                        @Override
                        public void run() {
                            prepare(kinds, last);
                        }
                    });
        } catch (OutOfMemoryError e) {
            log(e);
        }
    }

    private static void prepare(Supplier<List<LinkKind>> kinds, Runnable last) {
        try {
            SocketBinding.prepare();
            boolean usable = false;
            for (LinkKind kind : kinds.get()) {
                usable |= UcxRuntime.unavailability(kind) == null;
            }
            if (usable) {
                UcpBinding.prepare();
                last.run();
                tell(UcxLibrary.load());
            }
        } catch (Throwable e) {
            // Whoever needs it tries for himself, and tells.
            log(e);
        }
    }

    /**
     * Worth a line that everybody sees is a UCX that this transport has not brought along. That line may cost: the first one
     * of {@code java.util.logging} loads some hundred classes, while the first connection loads its own.
     */
    private static void tell(UcxLibrary library) {
        logger().log(library.origin().equals(UcxLibrary.BUNDLED) ? InternalLogLevel.DEBUG : InternalLogLevel.INFO,
                "Using {}.", library);
    }

    private static void log(Throwable cause) {
        logger().debug("Connections were not prepared.", cause);
    }

    /** Asked for when all is ready: the first line of a log takes long as well. */
    private static InternalLogger logger() {
        return InternalLoggerFactory.getInstance(Preparation.class);
    }
}
