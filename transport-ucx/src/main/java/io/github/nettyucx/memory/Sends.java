// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;

/** What one role has sent and UCX has not completed, with the memory that each message lies in. */
final class Sends {

    private static final class Message extends Requests.Request {
        /** Or -1. */
        int frame;
        /** Or {@code null}. */
        ReferenceCounted owner;
        /** What is done when UCX has taken the message; or {@code null}. */
        Operation operation;
    }

    private final MemoryExchange exchange;
    private final EndpointPort port;
    private final Requests<Message> requests;
    /** To be used again. */
    private final ArrayDeque<Message> idle = new ArrayDeque<>();
    private Message last;

    Sends(MemoryExchange exchange, EndpointPort port) {
        this.exchange = exchange;
        this.port = port;
        requests = new Requests<>(port);
    }

    /** As of the last {@link #poll}, and what has been added since. */
    int count() {
        return requests.count();
    }

    /**
     * What {@link #add} needs is there afterwards: what UCX has been given must not be forgotten for want of memory.
     */
    void prepare() {
        if (idle.isEmpty()) {
            idle.addLast(new Message());
        }
    }

    /**
     * After {@link #prepare}.
     *
     * @param frame given back when UCX needs it no more; or -1
     * @param owner of whom the reference is taken over; or {@code null}
     */
    void add(long request, int frame, ReferenceCounted owner) {
        last = idle.pollLast();
        last.frame = frame;
        last.owner = owner;
        requests.add(last, request);
    }

    /** What has been added last is all that this operation waits for. */
    void completeWithLast(Operation operation) {
        last.operation = operation;
    }

    /**
     * Looks which of the oldest UCX has completed. An owner that is released can have the application close the channel, which
     * {@linkplain #abandon abandons} the others.
     */
    void poll() {
        requests.begin();
        finish();
    }

    /** The same, however many others have not completed. */
    void pollAll() {
        requests.beginAll();
        finish();
    }

    private void finish() {
        for (Message message = requests.nextCompleted(); message != null; message = requests.nextCompleted()) {
            int status = requests.status();
            ReferenceCounted owner = message.owner;
            Operation operation = message.operation;
            if (message.frame >= 0) {
                exchange.frames().release(message.frame);
            }
            message.owner = null;
            message.operation = null;
            idle.addLast(message);
            if (status < 0) {
                // The operation fails with the connection.
                exchange.failed(status);
            } else if (operation != null) {
                exchange.access().complete(operation, null);
            }
            ReferenceCountUtil.safeRelease(owner);
        }
    }

    /** Leaves all to the worker, with the memory that belongs to them. */
    void abandon() {
        requests.abandon(message -> port.abandon(message.request, message.owner != null ? message.owner
                : message.frame >= 0 ? exchange.frames().retained(message.frame) : null));
    }
}
