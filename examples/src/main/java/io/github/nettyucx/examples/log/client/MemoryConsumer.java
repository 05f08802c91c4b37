// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.SlotWord;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads consecutive partitions out of the broker's memory: one get for the slots of all of them, which say how far each can
 * be read, and one for the records of each that has some. The broker is asked only where the next segment is. One poll at a
 * time.
 * <p>
 * The broker uses the memory of its current segment for the next one. So a slot is looked at once more when records of that
 * segment have been read: they count if it is still the same.
 */
public final class MemoryConsumer {

    private enum State {
        /** It is not known where the next record is. */
        UNKNOWN,
        /** In the segment that records are added to: its slot tells how far. */
        CURRENT,
        /** In one that stays as it is. */
        SEALED
    }

    /** Where this consumer is in one partition. */
    private final class Place {
        private final int partition;
        private final OpenedMemory opened = new OpenedMemory(connection);
        private long offset;
        /** Where it was when the poll began. */
        private long before;
        private State state = State.UNKNOWN;
        private UcxRemoteMemory memory;
        private int generation;
        private long position;
        private long readable;
        private int wanted = maxBytes;

        Place(int partition, long offset) {
            this.partition = partition;
            this.offset = offset;
        }

        void leave() {
            memory = null;
            state = State.UNKNOWN;
        }

        void remember() {
            before = offset;
        }

        /** Nobody has got what has been read of it since. */
        void goBack() {
            if (offset != before) {
                leave();
                offset = before;
            }
        }

        /** Where its slot lies. */
        long slot() {
            return (long) partition * SlotWord.BYTES;
        }
    }

    private final LogConnection connection;
    private final int first;
    private final int maxBytes;
    private final List<Place> places = new ArrayList<>();
    private UcxRemoteMemory slots;
    /** Released when nobody polls any more. */
    private ByteBuf words;
    private int polls;
    private boolean closed;

    MemoryConsumer(LogConnection connection, int first, List<Long> offsets, int maxBytes) {
        this.connection = connection;
        this.first = first;
        // Of a longer record it has to see how long it is.
        this.maxBytes = Math.max(Records.HEADER, maxBytes);
        offsets.forEach(offset -> places.add(new Place(first + places.size(), offset)));
    }

    Future<MemoryConsumer> open() {
        Promise<MemoryConsumer> promise = connection.newPromise();
        return connection.run(promise, () -> connection.ask(Message.OpenSlots::new)
                .addListener((Future<Message.Answer> answered) -> {
                    if (answered.isSuccess()) {
                        open(((Message.Slots) answered.getNow()).key(), promise);
                    } else {
                        promise.tryFailure(answered.cause());
                    }
                }));
    }

    private void open(byte[] key, Promise<MemoryConsumer> promise) {
        connection.openMemory(key).addListener((Future<UcxRemoteMemory> opened) -> {
            if (opened.isSuccess()) {
                slots = opened.getNow();
                try {
                    // The second half is for those that are looked at again.
                    words = connection.channel().alloc().directBuffer(2 * places.size() * SlotWord.BYTES);
                } catch (Throwable e) {
                    // For want of memory: nobody else tells whoever waits.
                    slots.close();
                    promise.tryFailure(e);
                    return;
                }
                promise.trySuccess(this);
            } else {
                promise.tryFailure(opened.cause());
            }
        });
    }

    /** Of the next record of one of its partitions. For the listeners of {@link #poll}, and in between. */
    public long offset(int partition) {
        return places.get(partition - first).offset;
    }

    /** Goes on with another record. As {@link #offset}. */
    public void seek(int partition, long next) {
        var place = places.get(partition - first);
        place.leave();
        place.offset = next;
    }

    // ------------------------------------------------------------------------------------------- one poll

    /**
     * What can be read now; empty if there is nothing, or it has turned out where to look next time. If one partition cannot
     * be read the poll fails, and the next one reads the same again of all.
     */
    public Future<List<LogRecord>> poll() {
        Promise<List<LogRecord>> promise = connection.newPromise();
        return connection.run(promise, () -> new Poll(promise).begin());
    }

    private final class Poll {
        private final Promise<List<LogRecord>> promise;
        private final List<LogRecord> found = new ArrayList<>();
        /** One more than partitions, so that it is not over before the last has begun. */
        private int left = places.size() + 1;
        private Throwable failure;

        Poll(Promise<List<LogRecord>> promise) {
            this.promise = promise;
        }

        void begin() {
            polls++;
            if (closed) {
                end(null);
                return;
            }
            places.forEach(Place::remember);
            try {
                readSlots();
            } catch (RuntimeException | Error e) {
                end(e);
            }
        }

        private void readSlots() {
            slots.get((long) first * SlotWord.BYTES, words, 0, places.size() * SlotWord.BYTES, (id, value, cause) -> {
                if (cause != null || closed) {
                    end(cause);
                    return;
                }
                for (var i = 0; i < places.size(); i++) {
                    var place = places.get(i);
                    var word = words.getLongLE(i * SlotWord.BYTES);
                    guarded(() -> begin(place, word));
                }
                done(null);
            }, 0);
        }

        /** A step that throws, for want of memory for example, ends what the poll does in its partition. */
        private void guarded(Runnable step) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                done(e);
            }
        }

        private void begin(Place place, long word) {
            switch (place.state) {
                case UNKNOWN -> locate(place);
                case SEALED -> read(place);
                case CURRENT -> {
                    if (SlotWord.isOf(place.generation, word)) {
                        place.readable = SlotWord.readable(word);
                        read(place);
                    } else {
                        // Sealed meanwhile: what is left of it is elsewhere now.
                        locate(place);
                    }
                }
            }
        }

        private void locate(Place place) {
            place.leave();
            connection.ask(request -> new Message.Locate(request, place.partition, place.offset))
                    .addListener((Future<Message.Answer> answered) -> {
                        if (!answered.isSuccess()) {
                            done(answered.cause());
                            return;
                        }
                        var located = (Message.Located) answered.getNow();
                        guarded(() -> place.opened.open(located.key()).addListener((Future<UcxRemoteMemory> opened) ->
                                guarded(() -> located(place, located, opened))));
                    });
        }

        private void located(Place place, Message.Located located, Future<UcxRemoteMemory> opened) {
            if (!opened.isSuccess()) {
                // Revoked already: the next poll asks again.
                done(OpenedMemory.isGone(opened.cause()) ? null : opened.cause());
                return;
            }
            place.memory = opened.getNow();
            place.position = located.position();
            place.readable = located.readable();
            place.generation = located.generation();
            place.state = located.generation() == Message.Located.SEALED ? State.SEALED : State.CURRENT;
            read(place);
        }

        private void read(Place place) {
            var length = (int) Math.min(place.readable - place.position, place.wanted);
            if (length <= 0) {
                if (place.state == State.SEALED) {
                    place.leave();
                }
                done(null);
                return;
            }
            var target = connection.channel().alloc().directBuffer(length);
            try {
                place.memory.get(place.position, target, 0, length, (id, value, cause) -> {
                    if (cause != null || place.state == State.SEALED) {
                        got(place, target.writerIndex(length), cause);
                    } else {
                        guarded(() -> confirm(place, target.writerIndex(length)));
                    }
                }, 0);
            } catch (RuntimeException | Error e) {
                target.release();
                throw e;
            }
        }

        /** What was read of the current segment is of that segment if its slot still says so. */
        private void confirm(Place place, ByteBuf target) {
            var index = (places.size() + place.partition - first) * SlotWord.BYTES;
            try {
                slots.get(place.slot(), words, index, SlotWord.BYTES, (id, value, cause) -> {
                    if (cause == null && !SlotWord.isOf(place.generation, words.getLongLE(index))) {
                        target.release();
                        guarded(() -> locate(place));
                    } else {
                        got(place, target, cause);
                    }
                }, 0);
            } catch (RuntimeException | Error e) {
                target.release();
                throw e;
            }
        }

        private void got(Place place, ByteBuf target, Throwable cause) {
            try {
                if (cause == null) {
                    take(place, target);
                    done(null);
                } else if (OpenedMemory.isGone(cause)) {
                    place.leave();
                    done(null);
                } else {
                    done(cause);
                }
            } catch (LogException | RuntimeException | Error e) {
                done(e);
            } finally {
                target.release();
            }
        }

        private void take(Place place, ByteBuf bytes) throws LogException {
            var length = bytes.readableBytes();
            var before = found.size();
            RecordReader.read(bytes, place.partition, place.offset, found);
            // A record that is longer than what was asked for.
            place.wanted = found.size() > before ? maxBytes : Math.max(maxBytes, wholeLength(place, bytes));
            place.offset += found.size() - before;
            place.position += length - bytes.readableBytes();
        }

        /** What can be read ends with a whole record: one that is not there as a whole is longer than what was asked for. */
        private int wholeLength(Place place, ByteBuf bytes) throws LogException {
            var left = place.readable - place.position;
            var length = bytes.readableBytes() < Records.HEADER ? 0 : Records.length(bytes, bytes.readerIndex());
            if (length < Records.HEADER || length > Math.min(left, Records.MAX_LENGTH)) {
                throw RecordReader.damaged(place.offset, place.partition, "it says that it has " + length
                        + " bytes (expected: " + Records.HEADER + " to " + Math.min(left, Records.MAX_LENGTH) + ")");
            }
            return length;
        }

        private void done(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
            if (--left == 0) {
                end(failure);
            }
        }

        private void end(Throwable cause) {
            polls--;
            if (closed) {
                releaseUnused();
                promise.tryFailure(new IllegalStateException("the consumer has been closed"));
            } else if (cause == null) {
                promise.trySuccess(found);
            } else {
                places.forEach(Place::goBack);
                promise.tryFailure(cause);
            }
        }
    }

    /** Gives up its access. A poll that is under way fails, and so do later ones. Any thread may call. */
    public void close() {
        connection.run(connection.newPromise(), this::giveUp, this::giveUp);
    }

    /** Several threads may when the event loop has ended. */
    private synchronized void giveUp() {
        if (closed) {
            return;
        }
        closed = true;
        places.forEach(place -> place.opened.close());
        slots.close();
        releaseUnused();
    }

    private void releaseUnused() {
        if (polls == 0 && words.refCnt() > 0) {
            words.release();
        }
    }
}
