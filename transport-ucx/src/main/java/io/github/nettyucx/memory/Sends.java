// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;
import java.util.function.Consumer;

/** What one role has sent and UCX has not completed, with the memory that each message lies in. */
final class Sends {

    private final EndpointPort port;
    private final Frames frames;
    private long[] requests = new long[8];
    /** Or -1. */
    private int[] sentFrames = new int[8];
    /** Or {@code null}. */
    private ReferenceCounted[] owners = new ReferenceCounted[8];
    /** What is done when UCX has taken the message; or {@code null}. */
    private Operation[] operations = new Operation[8];
    private int count;
    private final Consumer<Operation> taken;

    /** @param taken told of operations that are done when UCX has taken their message */
    Sends(EndpointPort port, Frames frames, Consumer<Operation> taken) {
        this.port = port;
        this.frames = frames;
        this.taken = taken;
    }

    /** As of the last {@link #poll}, and what has been added since. */
    int count() {
        return count;
    }

    /**
     * @param frame given back when UCX needs it no more; or -1
     * @param owner of whom the reference is taken over; or {@code null}
     */
    void add(long request, int frame, ReferenceCounted owner) {
        if (count == requests.length) {
            requests = Arrays.copyOf(requests, count * 2);
            sentFrames = Arrays.copyOf(sentFrames, count * 2);
            owners = Arrays.copyOf(owners, count * 2);
            operations = Arrays.copyOf(operations, count * 2);
        }
        requests[count] = request;
        sentFrames[count] = frame;
        owners[count++] = owner;
    }

    /** What has been added last is all that this operation waits for. */
    void completeWithLast(Operation operation) {
        operations[count - 1] = operation;
    }

    /** @return why one has failed, or 0 */
    int poll() {
        int failure = 0;
        for (int i = count - 1; i >= 0; i--) {
            int status = port.status(requests[i]);
            if (status == 1) {
                continue;
            }
            port.free(requests[i]);
            if (status < 0) {
                failure = status;
            }
            int frame = sentFrames[i];
            ReferenceCounted owner = owners[i];
            Operation operation = operations[i];
            count--;
            requests[i] = requests[count];
            sentFrames[i] = sentFrames[count];
            owners[i] = owners[count];
            owners[count] = null;
            operations[i] = operations[count];
            operations[count] = null;
            if (frame >= 0) {
                frames.release(frame);
            }
            if (owner != null) {
                owner.release();
            }
            // What fails does so with the connection.
            if (operation != null && status == 0) {
                taken.accept(operation);
            }
        }
        return failure;
    }

    /** Leaves all to the worker, with the memory that belongs to them. */
    void abandon() {
        for (int i = 0; i < count; i++) {
            port.abandon(requests[i], owners[i] != null ? owners[i]
                    : sentFrames[i] >= 0 ? frames.retained(sentFrames[i]) : null);
            owners[i] = null;
            operations[i] = null;
        }
        count = 0;
    }
}
