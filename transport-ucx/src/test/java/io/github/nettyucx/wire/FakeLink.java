// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two endpoints and what is between them. Nothing happens by itself: every {@link #step()} lets one thing that may
 * happen next happen, in any order but for that of the messages.
 */
final class FakeLink {

    final Dice dice;
    final Weather weather;
    final TrackedMemory memory = new TrackedMemory();
    final FakePort a;
    final FakePort b;
    private final List<FakeRequest> running = new ArrayList<>();
    private final List<FakeRequest> all = new ArrayList<>();
    private int operations;
    private int failingOperation = -1;
    private FakeRequest failed;

    FakeLink(Dice dice, Weather weather) {
        this.dice = dice;
        this.weather = weather;
        a = new FakePort("A", this);
        b = new FakePort("B", this);
        a.connectTo(b);
        b.connectTo(a);
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

    List<FakeRequest> running() {
        return running;
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

    /** Whether the operation that failed was one of {@code port} that its connection cannot do without. */
    boolean failedOperationMatters(FakePort port) {
        return failed != null && failed.port == port && !(failed instanceof FakePort.Drop);
    }

    /** @return whether something happened; if not, nothing will before a side does something */
    boolean step() {
        int count = running.size() + 6;
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
            case 2 -> a.streamArrives();
            case 3 -> b.streamArrives();
            case 4 -> a.noticesFailure();
            case 5 -> b.noticesFailure();
            default -> {
                FakeRequest request = running.get(choice - 6);
                boolean advanced = request.advance();
                if (!request.isRunning()) {
                    int last = running.size() - 1;
                    running.set(choice - 6, running.get(last));
                    running.remove(last);
                }
                yield advanced;
            }
        };
    }

    /** The network between them fails, or both processes die. */
    void cut() {
        a.willFail(UcsStatus.ERR_ENDPOINT_TIMEOUT);
        b.willFail(UcsStatus.ERR_CONNECTION_RESET);
    }

    void assertEverythingReturned() {
        for (FakeRequest request : all) {
            assertTrue(request.isFreed(), () -> "never freed: " + request);
        }
        memory.assertReleased();
    }
}
