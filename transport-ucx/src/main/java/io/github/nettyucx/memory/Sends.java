// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;
import java.util.function.Consumer;

/** What one role has sent and UCX has not completed, with the memory that each message lies in. */
final class Sends {

    private final EndpointPort port;
    private final Frames frames;
    private final Requests requests;
    // By the requests' slots.
    /** Or -1. */
    private int[] sentFrames = new int[8];
    /** Or {@code null}. */
    private ReferenceCounted[] owners = new ReferenceCounted[8];
    /** What is done when UCX has taken the message; or {@code null}. */
    private Operation[] operations = new Operation[8];
    private int last;
    private final Consumer<Operation> taken;

    /** @param taken told of operations that are done when UCX has taken their message */
    Sends(EndpointPort port, Frames frames, Consumer<Operation> taken) {
        this.port = port;
        this.frames = frames;
        this.taken = taken;
        requests = new Requests(port);
    }

    /** As of the last {@link #poll}, and what has been added since. */
    int count() {
        return requests.count();
    }

    /**
     * @param frame given back when UCX needs it no more; or -1
     * @param owner of whom the reference is taken over; or {@code null}
     */
    void add(long request, int frame, ReferenceCounted owner) {
        last = requests.add(request);
        if (sentFrames.length < requests.capacity()) {
            sentFrames = Arrays.copyOf(sentFrames, requests.capacity());
            owners = Arrays.copyOf(owners, requests.capacity());
            operations = Arrays.copyOf(operations, requests.capacity());
        }
        sentFrames[last] = frame;
        owners[last] = owner;
        operations[last] = null;
    }

    /** What has been added last is all that this operation waits for. */
    void completeWithLast(Operation operation) {
        operations[last] = operation;
    }

    /**
     * Looks which of the oldest UCX has completed. An owner that is released can have the application close the channel, which
     * {@linkplain #abandon abandons} the others.
     *
     * @return why one has failed, or 0
     */
    int poll() {
        requests.begin();
        return finish();
    }

    /** The same, however many others have not completed. */
    int pollAll() {
        requests.beginAll();
        return finish();
    }

    private int finish() {
        int failure = 0;
        for (int slot = requests.nextCompleted(); slot >= 0; slot = requests.nextCompleted()) {
            int status = requests.status();
            if (status < 0) {
                failure = status;
            }
            int frame = sentFrames[slot];
            ReferenceCounted owner = owners[slot];
            Operation operation = operations[slot];
            owners[slot] = null;
            operations[slot] = null;
            if (frame >= 0) {
                frames.release(frame);
            }
            // What fails does so with the connection.
            if (operation != null && status == 0) {
                taken.accept(operation);
            }
            ReferenceCountUtil.safeRelease(owner);
        }
        return failure;
    }

    /** Leaves all to the worker, with the memory that belongs to them. */
    void abandon() {
        for (int slot = requests.first(); slot >= 0; slot = requests.after(slot)) {
            port.abandon(requests.request(slot), owners[slot] != null ? owners[slot]
                    : sentFrames[slot] >= 0 ? frames.retained(sentFrames[slot]) : null);
            owners[slot] = null;
            operations[slot] = null;
        }
        requests.clear();
    }
}
