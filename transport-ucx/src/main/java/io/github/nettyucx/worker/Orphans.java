// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;

/**
 * Requests whose channel is gone. UCX may read or write their memory until it completes them, which for a rendezvous
 * is some time after the endpoint's close has returned; until then the memory stays retained here.
 */
final class Orphans implements InFlight {

    private static final int INITIAL_CAPACITY = 16;

    private long[] requests = new long[INITIAL_CAPACITY];
    private ReferenceCounted[] owners = new ReferenceCounted[INITIAL_CAPACITY];
    private Runnable[] whenDone = new Runnable[INITIAL_CAPACITY];
    private int size;
    private final Counters<WorkerCounter> counters;

    Orphans(Counters<WorkerCounter> counters) {
        this.counters = counters;
    }

    void add(long request, ReferenceCounted owner, Runnable done) {
        if (size == requests.length) {
            requests = Arrays.copyOf(requests, size * 2);
            owners = Arrays.copyOf(owners, size * 2);
            whenDone = Arrays.copyOf(whenDone, size * 2);
        }
        requests[size] = request;
        owners[size] = owner;
        whenDone[size] = done;
        size++;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    @Override
    public boolean poll() {
        for (int i = size - 1; i >= 0; i--) {
            if (UcpRequest.checkStatus(requests[i]) != UcsStatus.INPROGRESS) {
                UcpRequest.free(requests[i]);
                ReferenceCounted owner = owners[i];
                Runnable done = whenDone[i];
                removeAt(i);
                if (owner != null) {
                    owner.release();
                }
                if (done != null) {
                    done.run();
                }
            }
        }
        return size > 0;
    }

    /** Gives up the requests of a worker that has been destroyed. */
    void giveUp() {
        for (int i = size - 1; i >= 0; i--) {
            ReferenceCounted owner = owners[i];
            removeAt(i);
            if (owner != null) {
                owner.release();
            }
        }
    }

    private void removeAt(int i) {
        counters.increment(WorkerCounter.OPERATIONS_FINISHED);
        size--;
        requests[i] = requests[size];
        owners[i] = owners[size];
        whenDone[i] = whenDone[size];
        owners[size] = null;
        whenDone[size] = null;
    }
}
