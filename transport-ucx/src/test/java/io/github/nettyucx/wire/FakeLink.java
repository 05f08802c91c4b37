// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A link: two endpoints, what is between them, and the control sockets of the channels that use it. Nothing happens by
 * itself: every {@link #step()} lets one thing that may happen next happen, in any order but for that of the messages.
 */
final class FakeLink {

    /** Steps that are no request's. */
    private static final int OTHERS = 4;

    final Dice dice;
    final Weather weather;
    final TrackedMemory memory = new TrackedMemory();
    final FakePort a;
    final FakePort b;
    private final List<FakeSocket> sockets = new ArrayList<>();
    private final List<FakeRequest> running = new ArrayList<>();
    private final List<FakeRequest> all = new ArrayList<>();
    private int operations;
    private int failingOperation = -1;
    private FakeRequest failed;

    /** @param channels that are going to use it */
    FakeLink(Dice dice, Weather weather, int channels) {
        this.dice = dice;
        this.weather = weather;
        a = new FakePort("A", this, channels);
        b = new FakePort("B", this, channels);
        a.connectTo(b);
        b.connectTo(a);
    }

    void add(FakeSocket one, FakeSocket other) {
        one.connectTo(other);
        other.connectTo(one);
        sockets.add(one);
        sockets.add(other);
    }

    void add(FakeRequest request) {
        running.add(request);
        all.add(request);
    }

    FakeRequest request(long handle) {
        int index = (int) (handle >> 4) - 1;
        assertTrue((handle & 0xf) == 0 && index >= 0 && index < all.size(),
                () -> "no request: 0x" + Long.toHexString(handle));
        return all.get(index);
    }

    /** Like the address of the request added last. */
    long lastHandle() {
        return (long) all.size() << 4;
    }

    /** Has the operation that is posted after {@code more} others fail. */
    void failOperation(int more) {
        failingOperation = operations + more;
    }

    /** @return whether the operation that is being posted has to fail */
    boolean nextFails(FakeRequest request) {
        boolean fails = operations++ == failingOperation;
        if (fails) {
            failed = request;
        }
        return fails;
    }

    boolean hasFailedOperation() {
        return failed != null;
    }

    /** The operation that has failed without its endpoint, or is going to; {@code null} if there is none. */
    FakeRequest failedOperation() {
        return failed;
    }

    /** @return whether something happened; if not, nothing will before a side does something */
    boolean step() {
        int count = running.size() + sockets.size() + OTHERS;
        int start = dice.below(count);
        for (int i = 0; i < count; i++) {
            int choice = start + i;
            if (choice >= count) {
                choice -= count;
            }
            if (happens(choice)) {
                return true;
            }
        }
        return false;
    }

    private boolean happens(int choice) {
        return switch (choice) {
            case 0 -> a.messageArrives();
            case 1 -> b.messageArrives();
            case 2 -> a.noticesFailure();
            case 3 -> b.noticesFailure();
            default -> choice < OTHERS + sockets.size() ? sockets.get(choice - OTHERS).arrives()
                    : goesOn(choice - OTHERS - sockets.size());
        };
    }

    private boolean goesOn(int index) {
        FakeRequest request = running.get(index);
        boolean advanced = request.advance();
        if (!request.isRunning()) {
            int last = running.size() - 1;
            running.set(index, running.get(last));
            running.remove(last);
        }
        return advanced;
    }

    /** The network between them fails. */
    void cut() {
        a.willFail(UcsStatus.ERR_ENDPOINT_TIMEOUT);
        b.willFail(UcsStatus.ERR_CONNECTION_RESET);
    }

    void assertNothingRuns() {
        assertTrue(running.isEmpty(), () -> "never completes: " + running);
    }

    void assertEverythingReturned() {
        for (FakeRequest request : all) {
            assertTrue(request.isFreed(), () -> "never freed: " + request);
        }
        memory.assertReleased();
    }
}
