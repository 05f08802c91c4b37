// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxMemoryException;
import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Set;

/**
 * Writes records into the segment itself. When the segment is sealed, what has not been acknowledged of it is written again
 * into the next one: the broker has said that it never will be. Its state belongs to the event loop.
 */
abstract class MemoryProducer implements Producer, ConnectionHandler.MemoryUser {
    /** More wait until some are acknowledged. */
    private static final int MAX_UNDER_WAY = 1024;
    private static final Set<Reason> SEALED = EnumSet.of(Reason.REVOKED, Reason.CLOSED, Reason.UNKNOWN_KEY);

    private enum State {
        /** A key has been asked for, or is being opened. */
        OPENING,
        /** There is a segment to write into. */
        WRITING,
        /** There was; the next record did not fit. */
        FULL,
        /** All is over. */
        ENDED
    }

    /** Records that have not been acknowledged. */
    final class Entry implements ConnectionHandler.Waiting {
        final ByteBuf records;
        final int length;
        private final Promise<Long> promise;
        int request;

        private Entry(ByteBuf records, Promise<Long> promise) {
            this.records = records;
            this.promise = promise;
            length = records.readableBytes();
        }

        @Override
        public void answered(Message.Answer answer) {
            if (remove()) {
                promise.trySuccess(((Message.Produced) answer).offset());
                progress();
            }
        }

        @Override
        public void failed(Throwable cause) {
            if (remove()) {
                promise.tryFailure(cause);
                progress();
            }
        }

        private boolean remove() {
            // Nearly always the first: acknowledgements come in the order of the segment.
            var removed = underWay.remove(this) || queue.remove(this);
            if (removed) {
                records.release();
            }
            return removed;
        }
    }

    final LogConnection connection;
    final int partition;
    private final AccessMode mode;
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();
    private final ArrayDeque<Entry> underWay = new ArrayDeque<>();
    private State state = State.OPENING;
    private int generation = -1;
    /** Of a segment; not known before the broker has answered. */
    private volatile long capacity;
    private UcxRemoteMemory memory;
    private Throwable failure;
    /** Of who closes it; {@code null} as long as nobody does. */
    private Promise<Void> closing;

    MemoryProducer(LogConnection connection, int partition, AccessMode mode) {
        this.connection = connection;
        this.partition = partition;
        this.mode = mode;
    }

    // ------------------------------------------------------------------------------------------- for the ways to write

    /** There is a new segment. */
    abstract void begin(UcxRemoteMemory opened, long position, long end);

    /** @return whether it is under way; otherwise the segment has no room for it, and the broker has been told */
    abstract boolean write(Entry entry);

    /** A record did not fit, as has turned out after it was begun. */
    final void full() {
        if (state == State.WRITING) {
            state = State.FULL;
        }
    }

    final int generation() {
        return generation;
    }

    final long capacity() {
        return capacity;
    }

    /** What became of an operation on memory. Its failure says no more than that the segment is sealed, or it says all. */
    final void done(Throwable cause) {
        // A key of memory that has been revoked before it was opened is not known.
        var sealed = cause instanceof UcxMemoryException e && SEALED.contains(e.reason());
        if (cause != null && !sealed) {
            failed(cause);
        }
    }

    // ------------------------------------------------------------------------------------------- the segments

    final Future<Producer> open() {
        Promise<Producer> promise = connection.loop().newPromise();
        connection.run(() -> {
            if (!connection.handler().add(partition, this)) {
                promise.tryFailure(new BrokerException(ErrorCode.BAD_REQUEST, "this connection has a producer with access"
                        + " to partition " + partition + " already"));
                return;
            }
            connection.ask(request -> new Message.Access(request, partition, mode))
                    .addListener((Future<Message.Answer> answered) -> {
                        if (answered.isSuccess()) {
                            granted((Message.Granted) answered.getNow(), promise);
                        } else {
                            failed(answered.cause());
                            promise.tryFailure(answered.cause());
                        }
                    });
        });
        return promise;
    }

    @Override
    public final void granted(Message.Granted granted) {
        granted(granted, connection.loop().newPromise());
    }

    private void granted(Message.Granted granted, Promise<Producer> promise) {
        generation = granted.generation();
        capacity = granted.capacity();
        connection.openMemory(granted.key()).addListener((Future<UcxRemoteMemory> opened) -> {
            if (granted.generation() != generation || state == State.ENDED) {
                // Sealed meanwhile.
                promise.trySuccess(this);
                if (opened.isSuccess()) {
                    opened.getNow().close();
                }
                return;
            }
            if (!opened.isSuccess()) {
                done(opened.cause());
                if (state == State.ENDED) {
                    promise.tryFailure(opened.cause());
                } else {
                    // The next key is on its way.
                    promise.trySuccess(this);
                }
                return;
            }
            memory = opened.getNow();
            begin(memory, granted.position(), capacity);
            state = State.WRITING;
            promise.trySuccess(this);
            progress();
        });
    }

    @Override
    public final void sealed(Message.Sealed sealed) {
        if (sealed.generation() != generation) {
            return;
        }
        if (memory != null) {
            memory.close();
            memory = null;
        }
        // In their order, in front of what has not been written at all.
        for (Iterator<Entry> last = underWay.descendingIterator(); last.hasNext();) {
            queue.addFirst(last.next());
        }
        underWay.clear();
        if (state != State.ENDED) {
            state = State.OPENING;
        }
    }

    @Override
    public final void failed(Throwable cause) {
        if (state == State.ENDED) {
            return;
        }
        state = State.ENDED;
        failure = cause;
        connection.handler().remove(partition, this);
        var all = new ArrayDeque<>(underWay);
        all.addAll(queue);
        all.forEach(entry -> entry.failed(cause));
        if (closing != null) {
            closing.trySuccess(null);
        }
    }

    // ------------------------------------------------------------------------------------------- records

    @Override
    public final Future<Long> send(ByteBuf records) {
        Promise<Long> promise = connection.loop().newPromise();
        connection.run(() -> send(records, promise));
        return promise;
    }

    @Override
    public final int maxLength() {
        return (int) Math.min(capacity, Records.MAX_LENGTH);
    }

    private void send(ByteBuf records, Promise<Long> promise) {
        if (state == State.ENDED || closing != null) {
            records.release();
            promise.tryFailure(failure != null ? failure : new IllegalStateException("the producer has been closed"));
            return;
        }
        queue.addLast(new Entry(records, promise));
        progress();
    }

    private void progress() {
        while (state == State.WRITING && !queue.isEmpty() && underWay.size() < MAX_UNDER_WAY) {
            var entry = queue.pollFirst();
            if (entry.length > capacity) {
                queue.addFirst(entry);
                entry.failed(new BrokerException(ErrorCode.TOO_LARGE, "the records have " + entry.length
                        + " bytes (expected: at most " + capacity + ", which a segment has)"));
                return;
            }
            underWay.addLast(entry);
            if (entry.request == Message.UNASKED) {
                // With the same number again if it is written again.
                entry.request = connection.handler().expect(entry);
            }
            if (entry.request != Message.UNASKED && !write(entry)) {
                full();
            }
        }
        if (closing != null && queue.isEmpty() && underWay.isEmpty()) {
            leave();
        }
    }

    private void leave() {
        if (state == State.ENDED) {
            closing.trySuccess(null);
            return;
        }
        state = State.ENDED;
        connection.ask(request -> new Message.Leave(request, partition)).addListener(_ -> {
            connection.handler().remove(partition, this);
            closing.trySuccess(null);
        });
    }

    @Override
    public final void close() throws InterruptedException {
        Promise<Void> promise = connection.loop().newPromise();
        connection.run(() -> {
            if (closing == null) {
                closing = promise;
                progress();
            } else {
                closing.addListener(_ -> promise.trySuccess(null));
            }
        });
        promise.await();
    }
}
