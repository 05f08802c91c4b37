// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.EndpointPort;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * The receiving direction of a connection: a queue of messages in the order in which they were sent, from UCX's hands
 * to the buffers that go up the pipeline.
 * <p>
 * A message is first <em>held</em>: UCX has it, or for a rendezvous only its announcement. When the application wants
 * bytes it is <em>received</em> straight into the application's buffer; that may take time, and later messages may be
 * there sooner, so only the completed head of the queue is handed out. Small messages that have come behind it are received
 * into the same buffer. While the application wants nothing, small messages are moved together into
 * {@link #STASH_CAPACITY larger buffers}, because each held one occupies a whole receive segment of UCX.
 */
public final class Inbound extends MessageRing {

    enum State {
        /** Messages may come. */
        OPEN,
        /** The peer's FIN has come: what is queued is all there will be. */
        FINISHED,
        /** The peer's FIN has come, and everything before it lies in our memory. */
        COMPLETE,
        /** The connection is lost; what is complete can still be read. */
        FAILED,
        /** Nobody reads any more: messages are thrown away. */
        DISCARDING
    }

    /** Makes the buffers that messages are received into. */
    @FunctionalInterface
    public interface Allocation {
        /** @return a buffer of native memory with room for {@code length} bytes */
        ByteBuf allocate(int length);
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Inbound.class);

    /** Messages, from the one that has to complete next on, that are received while somebody reads and it is slow. */
    private static final int RECEIVE_AHEAD = 8;
    /** Held messages before further ones are moved into buffers, of a channel that does not read and of one that does. */
    private static final int HELD_LIMIT_PAUSED = 8;
    private static final int HELD_LIMIT_READING = 64;
    private static final int STASH_CAPACITY = 64 * 1024;
    private static final int STASH_MESSAGE_LIMIT = 4 * 1024;

    private static final int IN_PROGRESS = 1;

    private final EndpointPort port;
    private final Traffic traffic;
    private final Window window;
    private State state = State.OPEN;
    private boolean peerReads = true;
    private int failure;
    /** Messages that have come. */
    private int arrived;
    /** The peer has told that UCX has taken all of them: whatever of them is not here has been lost. */
    private boolean counted;

    /** Entries that are being received. */
    private int receiving;
    /** The last receive took time, as a rendezvous does: those that follow are not left until a read meets them. */
    private boolean slow;
    /** Capacity of the entries' buffers, in bytes. */
    private int allocated;

    Inbound(EndpointPort port, Traffic traffic, int window, int maxMessage) {
        this.port = port;
        this.traffic = traffic;
        this.window = new Window(window, maxMessage);
    }

    // ------------------------------------------------------------------------------------------- arrival

    /**
     * @param tag of the message: UCX can lose one, where it has no memory left to receive into, and tells nobody; its bytes
     *            would be missing in the stream
     */
    void data(long tag, long message, long length, boolean wanted, Allocation stash) throws ProtocolException {
        if (state == State.FAILED) {
            port.discard(message);
            return;
        }
        counted = false;
        try {
            if (isFinished()) {
                throw new ProtocolException("the peer sent data after the end of its stream");
            }
            window.spend(length);
            if (!Tag.isNumber(tag, arrived++)) {
                throw missing("messages of the peer's stream are missing");
            }
            makeRoom();
        } catch (ProtocolException | OutOfMemoryError e) {
            port.discard(message);
            throw e;
        }
        traffic.arrived((int) length);
        if (state == State.DISCARDING) {
            port.discard(message);
            window.owe((int) length + Limits.MESSAGE_CHARGE);
        } else if (size >= (wanted ? HELD_LIMIT_READING : HELD_LIMIT_PAUSED)) {
            stash(message, (int) length, stash);
        } else {
            add(message, (int) length);
            if (wanted) {
                receiveAhead(stash);
            }
        }
    }

    private void stash(long message, int length, Allocation allocation) {
        int last = head + size - 1 & kinds.length - 1;
        boolean small = length <= STASH_MESSAGE_LIMIT;
        if (small && kinds[last] == READY && !isReleased(last) && buffers[last].writableBytes() >= length) {
            receive(last, message, length);
        } else {
            // A peer that sends bytes one by one, and lets none complete, must not get a large buffer for each.
            int capacity = small && allocated < window.size() ? Math.max(length, Math.min(STASH_CAPACITY, window.size()))
                    : length;
            receiveHeldIfPossible(add(message, length), capacity, allocation);
        }
    }

    private void receiveHeld(int index, int capacity, Allocation allocation) {
        long message = handles[index];
        ByteBuf buffer = allocation.allocate(capacity);
        if (!isHeld(index, message)) {
            // The application's allocator has closed the channel, or its input: UCX has the message no more.
            ReferenceCountUtil.safeRelease(buffer);
            return;
        }
        buffers[index] = buffer;
        allocated += buffer.capacity();
        try {
            receive(index, message, lengths[index]);
        } catch (Throwable t) {
            if (buffers[index] == buffer && kinds[index] == HELD) {
                // UCX has not taken it: the message waits for another one.
                releaseBuffer(index);
            }
            throw t;
        }
    }

    private boolean isHeld(int index, long message) {
        return (index - head & kinds.length - 1) < size && kinds[index] == HELD && handles[index] == message;
    }

    private void releaseBuffer(int index) {
        ByteBuf buffer = buffers[index];
        buffers[index] = null;
        allocated -= buffer.capacity();
        // The application has had slices of it, and can have released them too often.
        ReferenceCountUtil.safeRelease(buffer);
    }

    /** When nobody has asked for the message, an allocator that fails is no reason to lose it: UCX still holds it. */
    private void receiveHeldIfPossible(int index, int capacity, Allocation allocation) {
        try {
            receiveHeld(index, capacity, allocation);
        } catch (Throwable e) {
            logger.debug("No memory for a message of {} bytes; it stays with UCX for now.", lengths[index], e);
        }
    }

    /** Receives into the buffer of an entry, which is READY or becomes RECEIVING. */
    private void receive(int index, long message, int length) {
        ByteBuf buffer = buffers[index];
        long request = port.receive(message, BufferAddress.of(buffer, buffer.writerIndex(), length), length);
        if (request < 0) {
            lost(index, (int) request);
            return;
        }
        messages[index]++;
        slow = request != 0;
        if (request == 0) {
            buffer.writerIndex(buffer.writerIndex() + length);
            kinds[index] = READY;
        } else {
            kinds[index] = RECEIVING;
            receiving++;
            traffic.count(TrafficCounter.RECEIVES_DEFERRED);
            handles[index] = request;
            lengths[index] = length;
        }
    }

    /** Where UCX loses nothing it is the peer who has miscounted. */
    private ProtocolException missing(String what) {
        return port.losesMessages() ? ProtocolException.ofLoss(what) : new ProtocolException(what);
    }

    /** @param tag of the peer's FIN */
    void finished(long tag) throws ProtocolException {
        if (isFinished()) {
            throw new ProtocolException("the peer ended its stream twice");
        }
        // Of a stream that has failed, what comes is not counted.
        if (state != State.FAILED && !Tag.isCount(tag, arrived)) {
            throw missing("messages of the peer's stream are missing at its end");
        }
        peerReads = Tag.isHalf(tag);
        if (state == State.OPEN || state == State.DISCARDING) {
            state = State.FINISHED;
        }
    }

    /**
     * Brings everything before the FIN into our memory, so that the peer may go.
     *
     * @return whether that is the case now, for the first time
     */
    boolean complete(Allocation allocation) {
        if (state != State.FINISHED) {
            return false;
        }
        boolean all = true;
        for (int i = 0; i < size; i++) {
            int index = head + i & kinds.length - 1;
            if (kinds[index] == HELD) {
                receiveHeldIfPossible(index, lengths[index], allocation);
            }
            all &= kinds[index] == READY;
        }
        if (all && state == State.FINISHED) {
            state = State.COMPLETE;
            return true;
        }
        return false;
    }

    // ------------------------------------------------------------------------------------------- reading

    /**
     * Takes the next bytes of the stream.
     *
     * @param limit      the most to take, in bytes; at least 1
     * @param allocation makes a buffer for a message that is not in our memory yet
     * @return a buffer that the caller owns, or {@code null} if there is nothing at the moment
     */
    ByteBuf read(int limit, Allocation allocation) {
        if (size == 0) {
            return null;
        }
        if (kinds[head] == HELD) {
            receiveHeld(head, lengths[head], allocation);
            receiveFollowing(limit);
        }
        if (size == 0 || kinds[head] != READY) {
            receiveAhead(allocation);
            return null;
        }
        ByteBuf buffer = buffers[head];
        int readable = buffer.readableBytes();
        if (readable > limit) {
            ByteBuf part = buffer.readRetainedSlice(limit);
            // About as many messages as their bytes: the rest comes with the last part.
            int done = (int) ((long) messages[head] * limit / readable);
            messages[head] -= done;
            window.owe(limit + done * Limits.MESSAGE_CHARGE);
            return part;
        }
        buffers[head] = null;
        allocated -= buffer.capacity();
        window.owe(readable + messages[head] * Limits.MESSAGE_CHARGE);
        head = head + 1 & kinds.length - 1;
        size--;
        receiveAhead(allocation);
        return buffer;
    }

    /**
     * Receives the small messages behind the head into the head's buffer, as far as they fit. The reader of a byte stream gets
     * what is there in as few pieces as from a socket, however often its peer has flushed.
     */
    private void receiveFollowing(int limit) {
        while (size > 1 && kinds[head] == READY) {
            int next = head + 1 & kinds.length - 1;
            ByteBuf buffer = buffers[head];
            int room = Math.min(limit - buffer.readableBytes(), buffer.writableBytes());
            if (kinds[next] != HELD || lengths[next] > Math.min(room, STASH_MESSAGE_LIMIT)) {
                return;
            }
            // The head takes the next one's place.
            long message = handles[next];
            int length = lengths[next];
            kinds[next] = READY;
            messages[next] = messages[head];
            buffers[next] = buffer;
            buffers[head] = null;
            head = next;
            size--;
            receive(head, message, length);
        }
    }

    /**
     * Where receives take time, keeps several under way, so that the peer is not left idle between one and the next.
     * What UCX has in its hands already waits for its reader's buffer instead.
     */
    private void receiveAhead(Allocation allocation) {
        for (int i = 0; (slow || receiving > 0) && i < Math.min(size, RECEIVE_AHEAD) && state != State.FAILED; i++) {
            int index = head + i & kinds.length - 1;
            if (kinds[index] == HELD) {
                receiveHeldIfPossible(index, lengths[index], allocation);
            }
        }
    }

    /** Whether the application has released parts of the next buffer so often that the rest has gone with them. */
    boolean isNextReleased() {
        return size > 0 && isReleased(head);
    }

    private boolean isReleased(int index) {
        return kinds[index] == READY && buffers[index].refCnt() == 0;
    }

    /** Whether {@link Connection#read} has something to do; its answer may be that the bytes are still on their way. */
    public boolean isReadable() {
        return size > 0 && kinds[head] != RECEIVING;
    }

    /** Whether the peer's stream has ended and been read to its end. */
    public boolean isAtEnd() {
        return size == 0 && isFinished();
    }

    /** Whether the peer's stream has ended. */
    public boolean isFinished() {
        return state == State.FINISHED || state == State.COMPLETE;
    }

    /** Whether the peer's stream has ended, and nothing of it is missing. */
    boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** Whether the peer reads what is sent to it. */
    public boolean peerReads() {
        return peerReads;
    }

    public boolean isFailed() {
        return state == State.FAILED;
    }

    int failure() {
        return failure;
    }

    // ------------------------------------------------------------------------------------------- credit

    /** Takes all the credit that may be granted again. */
    public int takeGrant() {
        return window.takeGrant(1);
    }

    /** Takes what of it can be granted along with bytes: the rest is for a later time. */
    public int takeGrantForData() {
        return window.takeGrant(Tag.GRANT_UNIT);
    }

    /** Whether so much credit is owed that it has to be sent even if nothing else is. */
    boolean isGrantDue() {
        return window.isGrantDue();
    }

    /** Whether so much has been spent that less is to be sent as well, after a while. */
    boolean isGrantWaitedFor() {
        return window.isGrantWaitedFor();
    }

    // ------------------------------------------------------------------------------------------- in flight

    /**
     * Looks which receives have completed, from the oldest on, until one has not: what follows it can be read later.
     *
     * @return whether the head, or all that has to be complete, has made progress
     */
    boolean poll() {
        boolean progress = false;
        for (int i = 0; i < size && receiving > 0; i++) {
            int index = head + i & kinds.length - 1;
            if (kinds[index] == RECEIVING) {
                if (!finishReceive(index)) {
                    break;
                }
                progress |= i == 0 || state == State.FINISHED;
            }
        }
        return progress;
    }

    /** @return whether the entry is not being received any more; if that has failed, it is gone */
    private boolean finishReceive(int index) {
        int status = port.status(handles[index]);
        if (status == IN_PROGRESS) {
            return false;
        }
        port.free(handles[index]);
        receiving--;
        if (status < 0) {
            lost(index, status);
        } else {
            buffers[index].writerIndex(buffers[index].writerIndex() + lengths[index]);
            kinds[index] = READY;
        }
        return true;
    }

    boolean isInFlight() {
        return receiving > 0;
    }

    /** Messages that have come. */
    int arrived() {
        return arrived;
    }

    /** The peer has sent all of the messages that have come, and this many there were. */
    void counted() {
        counted = true;
    }

    /** Whether a message is being received of which a part has been lost; to be asked after {@link #poll()}. */
    boolean isPartMissing() {
        return counted && receiving > 0;
    }

    /** The message that was to be received into this entry cannot be had: what follows it must not be read. */
    private void lost(int index, int status) {
        fail(status);
        // UCX has nothing of it any more. What is left is a buffer, and the earlier messages in it.
        kinds[index] = READY;
        int position = index - head & kinds.length - 1;
        truncate(buffers[index].isReadable() ? position + 1 : position);
    }

    /**
     * Keeps the first {@code kept} entries, and throws the others away. The release of an application's buffer can close the
     * connection, which throws away what is left then. So each is taken off the queue before its buffer is released.
     */
    private void truncate(int kept) {
        while (size > kept) {
            int index = head + size - 1 & kinds.length - 1;
            boolean ready = kinds[index] == READY;
            if (kinds[index] == HELD) {
                port.discard(handles[index]);
            } else if (!ready) {
                abandon(index);
            }
            size--;
            if (ready) {
                releaseBuffer(index);
            }
        }
    }

    /** Leaves the entry's receive, and its buffer, to the worker. */
    private void abandon(int index) {
        ByteBuf buffer = buffers[index];
        port.abandon(handles[index], buffer);
        receiving--;
        allocated -= buffer.capacity();
        buffers[index] = null;
    }

    /** The connection is lost: no message will come, and no receive that waits for the peer will complete. */
    void fail(int status) {
        if (state == State.OPEN || state == State.FINISHED) {
            state = State.FAILED;
            failure = status;
        }
    }

    /** Keeps the bytes that are here, up to the first that a lost connection will never complete, or that have gone. */
    void cutIncomplete(Allocation allocation) {
        for (int i = 0; i < size; i++) {
            int index = head + i & kinds.length - 1;
            if (kinds[index] == HELD) {
                // UCX has the whole of an eager message, whatever has become of the endpoint.
                receiveHeldIfPossible(index, lengths[index], allocation);
            } else if (kinds[index] == RECEIVING) {
                finishReceive(index);
            }
            if (i < size && (kinds[index] != READY || isReleased(index))) {
                cut(i, index);
            }
        }
    }

    private void cut(int position, int index) {
        if (kinds[index] == RECEIVING && buffers[index].isReadable() && buffers[index].refCnt() > 0) {
            // Earlier messages lie before the one that UCX may still write.
            ByteBuf earlier = buffers[index].readRetainedSlice(buffers[index].readableBytes());
            abandon(index);
            buffers[index] = earlier;
            allocated += earlier.capacity();
            kinds[index] = READY;
            truncate(position + 1);
        } else {
            truncate(position);
        }
    }

    /** Throws away what is queued and what is to come, and owes the peer all of its credit. */
    public void discard() {
        truncate(0);
        window.oweAll();
        if (state == State.OPEN) {
            state = State.DISCARDING;
        }
    }
}
