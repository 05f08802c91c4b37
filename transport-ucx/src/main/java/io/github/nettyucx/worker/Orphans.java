// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * Requests whose channel is gone. UCX may read or write their memory until it completes them, which for a rendezvous
 * is some time after the endpoint's close has returned; until then the memory stays retained here.
 * <p>
 * Those that last are looked at now and then only, not in every turn: some are never completed.
 */
class Orphans implements InFlight {

    /** After that time a request is not expected to complete soon. */
    static final long LASTING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * @param owner of its memory, or {@code null}
     * @param done  is told the status, or {@code null}
     */
    private record Orphan(long request, ReferenceCounted owner, IntConsumer done, long sinceNanos) {
    }

    private final Counters<WorkerCounter> counters;

    private final List<Orphan> young = new ArrayList<>();
    private final List<Orphan> lasting = new ArrayList<>();
    private boolean polled;

    Orphans(Counters<WorkerCounter> counters) {
        this.counters = counters;
    }

    int statusOf(long request) {
        return UcpRequest.checkStatus(request);
    }

    void free(long request) {
        UcpRequest.free(request);
    }

    long now() {
        return System.nanoTime();
    }

    /** @return whether this is to be polled from now on, and was not before */
    boolean add(long request, ReferenceCounted owner, IntConsumer done) {
        young.add(new Orphan(request, owner, done, now()));
        boolean first = !polled;
        polled = true;
        return first;
    }

    boolean isEmpty() {
        return size() == 0;
    }

    int size() {
        return young.size() + lasting.size();
    }

    /** Whether one of them uses memory. */
    boolean haveOwners() {
        return !isEmpty() && any(orphan -> orphan.owner != null);
    }

    /** Whether one of them has been here for longer than that. */
    boolean isOlderThan(long nanos, long now) {
        return !isEmpty() && any(orphan -> now - orphan.sinceNanos > nanos);
    }

    private boolean any(Predicate<Orphan> which) {
        return lasting.stream().anyMatch(which) || young.stream().anyMatch(which);
    }

    @Override
    public boolean poll() {
        finish(young);
        polled = !young.isEmpty();
        return polled;
    }

    /** Looks at those that last, and which these are by now. @return whether some have completed */
    boolean collect(long now) {
        boolean completed = finish(lasting) > 0;
        for (int i = young.size() - 1; i >= 0; i--) {
            if (now - young.get(i).sinceNanos > LASTING_NANOS) {
                lasting.add(remove(young, i));
            }
        }
        return completed;
    }

    /** Looks at all of them. @return how many have completed */
    int finish() {
        return finish(lasting) + finish(young);
    }

    /** Whoever is told that one has may add others, or {@linkplain #giveUp() give up} them all. */
    private int finish(List<Orphan> some) {
        int finished = 0;
        for (int i = some.size() - 1; i >= 0; i = Math.min(i, some.size()) - 1) {
            int status = statusOf(some.get(i).request);
            if (status != UcsStatus.INPROGRESS) {
                Orphan orphan = remove(some, i);
                free(orphan.request);
                counters.increment(WorkerCounter.OPERATIONS_FINISHED);
                finished++;
                // One that the application has released too often throws, and the others are not to wait for that.
                ReferenceCountUtil.safeRelease(orphan.owner);
                if (orphan.done != null) {
                    orphan.done.accept(status);
                }
            }
        }
        return finished;
    }

    /** Gives up the requests of a worker that has been destroyed. */
    void giveUp() {
        for (List<Orphan> some : List.of(lasting, young)) {
            while (!some.isEmpty()) {
                counters.increment(WorkerCounter.OPERATIONS_FINISHED);
                ReferenceCountUtil.safeRelease(remove(some, some.size() - 1).owner);
            }
        }
    }

    /** The last one takes its place. */
    private static Orphan remove(List<Orphan> some, int i) {
        Orphan last = some.removeLast();
        return i == some.size() ? last : some.set(i, last);
    }
}
