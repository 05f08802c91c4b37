// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/** What a thread sends with. It is made once for each thread, so that sending allocates nothing. */
final class Outbox {

    /** A thread may live longer than the application whose class this is: what it has of its own does not keep the class. */
    private static final ThreadLocal<WeakReference<Outbox>> CURRENT = new ThreadLocal<>();
    /** By what the thread has: threads are not told apart by their {@code equals}, which is the application's. */
    private static final Map<WeakReference<Outbox>, Outbox> HELD = new WeakHashMap<>();

    final Exporter exporter = new Exporter();
    final Slot slot = new Slot();
    final Fragments fragments = new Fragments();
    private final WaiterSpin spin;
    /** For the request that this thread waits for. */
    Waiter waiter;
    private boolean busy;

    private Outbox(WaiterSpin spin) {
        this.spin = spin;
        replaceWaiter();
    }

    /** The one before may still be answered. */
    void replaceWaiter() {
        waiter = new Waiter(spin);
    }

    /** The thread's; another one if that is in use, because a codec sends something. */
    static Outbox begin() {
        WeakReference<Outbox> known = CURRENT.get();
        Outbox outbox = known != null ? known.get() : own();
        if (outbox.busy) {
            outbox = new Outbox(outbox.spin);
        }
        outbox.busy = true;
        return outbox;
    }

    private static Outbox own() {
        Outbox own = new Outbox(new WaiterSpin());
        WeakReference<Outbox> known = new WeakReference<>(own);
        synchronized (HELD) {
            HELD.put(known, own);
        }
        CURRENT.set(known);
        return own;
    }

    void end() {
        busy = false;
        // A thread may live longer than a node and its rings.
        exporter.window(null, 0, 0, null);
        slot.memory = null;
        fragments.forget();
    }
}
