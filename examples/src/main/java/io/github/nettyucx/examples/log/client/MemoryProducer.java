// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Writes records into the segment itself: what is sent in one turn of the event loop goes in a few writes, each with one
 * notification and one acknowledgement. When the segment is sealed, what has not been acknowledged of it is written again
 * into the next one: the broker has said that it never will be. Its state belongs to the event loop.
 */
abstract class MemoryProducer implements Producer, ConnectionHandler.MemoryUser, Batch.Owner {
    /** Records; more wait until some are acknowledged. */
    private static final int MAX_UNDER_WAY = 1024;

    private enum State {
        /** A key has been asked for, or is being opened. */
        OPENING,
        /** There is a segment to write into. */
        WRITING,
        /** There was; the next write did not fit. */
        FULL,
        /** All is over. */
        ENDED
    }

    final LogConnection connection;
    final int partition;
    private final AccessMode mode;
    private final OpenedMemory opened;
    private final Gathering queue;
    private final Runnable scheduledProgress = this::scheduledProgress;
    /** What the last segment had no room for, in front of what has not been written at all. */
    private final ArrayDeque<Batch> again = new ArrayDeque<>();
    private final ArrayDeque<Batch> underWay = new ArrayDeque<>();
    private int recordsUnderWay;
    private boolean answering;
    private boolean scheduled;
    private State state = State.OPENING;
    private int generation = -1;
    /** Of a segment; not known before the broker has answered. */
    private volatile long capacity;
    private volatile long openedAt = -1;
    private UcxRemoteMemory memory;
    /** The last that there was; {@code null} if there was none. */
    private UcxRemoteMemory written;
    /** The broker has given it, and has to be told when it ends. */
    private boolean hasAccess;
    private boolean accessHasEnded;
    private Throwable failure;
    /** Of who closes it; {@code null} as long as nobody does. */
    private Promise<Void> closing;

    MemoryProducer(LogConnection connection, int partition, AccessMode mode) {
        this.connection = connection;
        this.partition = partition;
        this.mode = mode;
        opened = new OpenedMemory(connection);
        queue = new Gathering(connection.channel().alloc(), this);
    }

    // ------------------------------------------------------------------------------------------- for the ways to write

    /** There is a new segment. */
    abstract void begin(UcxRemoteMemory into, long position, long end);

    /** It has been sealed, or all is over: what is still told of operations on it means nothing any more. */
    abstract void ended();

    /** @return whether it is under way; otherwise the segment has no room for it, and the broker has been told */
    abstract boolean write(Batch batch);

    /** A batch did not fit, as has turned out after it was begun. */
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
        if (cause != null && !OpenedMemory.isGone(cause)) {
            failed(cause);
        }
    }

    // ------------------------------------------------------------------------------------------- the segments

    final Future<Producer> open() {
        Promise<Producer> promise = connection.newPromise();
        return connection.run(promise, () -> {
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
    }

    @Override
    public final void granted(Message.Granted granted) {
        // A segment that was begun a second time would lose what has been reserved in it.
        if (granted.generation() != generation) {
            granted(granted, connection.newPromise());
        }
    }

    @Override
    public final long openedAt() {
        return openedAt;
    }

    private void granted(Message.Granted granted, Promise<Producer> promise) {
        if (openedAt < 0) {
            openedAt = granted.next();
        }
        hasAccess = true;
        generation = granted.generation();
        capacity = granted.capacity();
        opened.open(granted.key()).addListener((Future<UcxRemoteMemory> opening) -> {
            if (granted.generation() != generation || state == State.ENDED) {
                // Sealed meanwhile.
                promise.trySuccess(this);
                return;
            }
            if (!opening.isSuccess()) {
                done(opening.cause());
                if (state == State.ENDED) {
                    promise.tryFailure(opening.cause());
                } else {
                    // The next key is on its way.
                    promise.trySuccess(this);
                }
                return;
            }
            memory = opening.getNow();
            written = memory;
            begin(memory, granted.position(), capacity);
            state = State.WRITING;
            promise.trySuccess(this);
            progress(true);
        });
    }

    @Override
    public final void sealed(Message.Sealed sealed) {
        if (sealed.generation() != generation) {
            return;
        }
        if (sealed.reason() != SealReason.FULL) {
            opened.forget();
        } else if (mode == AccessMode.SHARED) {
            release(sealed.generation());
        }
        // A key that is still being opened is of no use any more, and this is not told twice.
        generation = -1;
        memory = null;
        ended();
        var bytes = 0L;
        // In their order, in front of what has not been written at all.
        for (Iterator<Batch> last = underWay.descendingIterator(); last.hasNext();) {
            var batch = last.next();
            bytes += batch.length();
            batch.isWritten = false;
            again.addFirst(batch);
        }
        underWay.clear();
        recordsUnderWay = 0;
        if (state != State.ENDED) {
            state = State.OPENING;
        }
        connection.handler().giveRoom(bytes);
    }

    @Override
    public final void room() {
        if (!scheduled) {
            scheduled = true;
            connection.loop().execute(scheduledProgress);
        }
    }

    /** Nothing of this producer's comes to a segment's memory any more: it may be used for another one. */
    private void release(int ended) {
        var released = new Message.Released(partition, ended);
        if (memory == null) {
            connection.handler().send(released);
        } else {
            memory.flush((id, value, cause) -> connection.handler().send(released), 0);
        }
    }

    @Override
    public final void failed(Throwable cause) {
        if (state == State.ENDED) {
            return;
        }
        end();
        failure = cause;
        ended();
        var all = new ArrayDeque<>(underWay);
        all.addAll(again);
        // What was written may still be answered, and that is for nobody. What a sealed segment has not taken never is.
        all.forEach(batch -> connection.handler().forget(batch.request, batch.isWritten));
        all.forEach(batch -> batch.failed(cause));
        queue.fail(cause);
        endAccess();
    }

    private void end() {
        state = State.ENDED;
        opened.close();
    }

    // ------------------------------------------------------------------------------------------- records

    @Override
    public final Future<Long> send(ByteBuf records) {
        Promise<Long> promise = connection.newPromise();
        return connection.run(promise, () -> send(records, LogConnection.telling(promise), 0),
                () -> ReferenceCountUtil.safeRelease(records));
    }

    @Override
    public final void send(ByteBuf records, Acknowledgement told, long id) {
        connection.requireLoop();
        if (isOver()) {
            ReferenceCountUtil.safeRelease(records);
            told.done(id, 0, whyOver());
            return;
        }
        try {
            queue.add(records, maxLength(), told, id);
        } catch (RuntimeException | Error e) {
            notTaken(told, id, e);
            return;
        }
        sent();
    }

    @Override
    public final void send(byte[] payload, Acknowledgement told, long id) {
        connection.requireLoop();
        if (isOver()) {
            told.done(id, 0, whyOver());
            return;
        }
        try {
            queue.add(payload, maxLength(), told, id);
        } catch (RuntimeException | Error e) {
            notTaken(told, id, e);
            return;
        }
        sent();
    }

    /** For want of memory, for example. What is sent behind it must not be written in its place, and so all is over. */
    private void notTaken(Acknowledgement told, long id, Throwable cause) {
        failed(cause);
        LogConnection.tell(told, id, 0, cause);
    }

    @Override
    public final int maxLength() {
        return (int) Math.min(capacity, Records.MAX_LENGTH);
    }

    private boolean isOver() {
        return state == State.ENDED || closing != null;
    }

    private Throwable whyOver() {
        return failure != null ? failure : new IllegalStateException("the producer has been closed");
    }

    private void sent() {
        if (queue.isEnough()) {
            progress(false);
        } else if (!answering) {
            progressSoon();
        }
    }

    /** At once if nothing is under way, and otherwise with what else comes in this turn. */
    private void progressSoon() {
        if (underWay.isEmpty()) {
            progress(true);
        } else {
            room();
        }
    }

    private void scheduledProgress() {
        scheduled = false;
        progress(true);
    }

    /** @param all whether a batch is written that others might still join */
    private void progress(boolean all) {
        while (state == State.WRITING && recordsUnderWay < MAX_UNDER_WAY) {
            var batch = again.isEmpty() ? queue.take(all) : again.pollFirst();
            if (batch == null) {
                break;
            }
            if (!connection.handler().takeRoom(this, batch.length())) {
                again.addFirst(batch);
                return;
            }
            underWay.addLast(batch);
            recordsUnderWay += batch.size();
            if (batch.request == Message.UNASKED) {
                // With the same number again if it is written again.
                batch.request = connection.handler().expect(batch);
            }
            try {
                if (batch.request != Message.UNASKED && !write(batch)) {
                    full();
                }
            } catch (RuntimeException | Error e) {
                // Whether it has been written is not known.
                failed(e);
            }
        }
        if (closing != null && queue.isEmpty() && again.isEmpty() && underWay.isEmpty()) {
            leave();
        }
    }

    @Override
    public final void committed(Batch batch, long offset) {
        if (remove(batch)) {
            // What those who are told send goes together.
            answering = true;
            batch.acknowledge(offset);
            answering = false;
            queue.recycle(batch);
            progressSoon();
        }
    }

    @Override
    public final void failed(Batch batch, Throwable cause) {
        if (remove(batch)) {
            batch.fail(cause);
            progressSoon();
        }
    }

    private boolean remove(Batch batch) {
        // Nearly always the first: acknowledgements come in the order of the segment.
        var wasUnderWay = underWay.remove(batch);
        if (wasUnderWay) {
            recordsUnderWay -= batch.size();
            connection.handler().giveRoom(batch.length());
        }
        var removed = wasUnderWay || again.remove(batch);
        if (removed) {
            batch.release();
        }
        return removed;
    }

    private void leave() {
        if (accessHasEnded) {
            closing.trySuccess(null);
        } else if (state != State.ENDED) {
            end();
            endAccess();
        }
    }

    /** Of one that has failed there may be writes under way: the broker may use the memory for others when it is told. */
    private void endAccess() {
        if (!hasAccess) {
            accessEnded();
        } else if (failure == null || written == null) {
            tellOfEnd();
        } else {
            written.flush((id, value, cause) -> tellOfEnd(), 0);
        }
    }

    /** If the connection has ended, that tells the broker. */
    private void tellOfEnd() {
        connection.ask(request -> new Message.Leave(request, partition)).addListener(_ -> accessEnded());
    }

    private void accessEnded() {
        accessHasEnded = true;
        connection.handler().remove(partition, this);
        if (closing != null) {
            closing.trySuccess(null);
        }
    }

    @Override
    public final void close() throws InterruptedException {
        Promise<Void> promise = connection.newPromise();
        connection.run(promise, () -> {
            if (closing == null) {
                closing = promise;
                progress(true);
            } else {
                closing.addListener(_ -> promise.trySuccess(null));
            }
        });
        promise.await();
    }
}
