// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** What a thread sends with. It is made once for each thread, so that sending allocates nothing. */
final class Outbox {

    private static final ThreadLocal<Outbox> CURRENT = ThreadLocal.withInitial(() -> new Outbox(new WaiterSpin()));

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
        Outbox outbox = CURRENT.get();
        if (outbox.busy) {
            outbox = new Outbox(outbox.spin);
        }
        outbox.busy = true;
        return outbox;
    }

    void end() {
        busy = false;
        // A thread may live longer than a node and its rings.
        exporter.window(null, 0, 0, null);
        slot.memory = null;
        fragments.forget();
    }
}
