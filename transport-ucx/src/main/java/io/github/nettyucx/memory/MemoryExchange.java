// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.MemoryMessages;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.InFlight;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * What is said about memory over one connection, in both roles: this side's memory that the peer has opened, and the
 * peer's memory that this side has opened.
 * <p>
 * It only takes note in the turn in which messages are taken. What the application is told is told by {@link #deliver},
 * for which the host is asked to see to.
 * <p>
 * Only the event-loop thread may call.
 */
public final class MemoryExchange implements MemoryMessages, InFlight {

    /** Whose connection it is. */
    public interface Host {

        /** {@link #deliver} has something to tell, and is to be called when the messages of this turn have been taken. */
        void memoryReady();
    }

    private final EndpointPort port;
    private final Connection connection;
    private final Host host;
    private final boolean shared;
    private final Frames frames;
    private final MemoryServing serving;
    private final MemoryAccess access;
    private int peerChannelId;
    private Executor loop;
    private IOException end;
    private int failure;
    /** What has failed if that was not UCX, or {@code null}. */
    private OutOfMemoryError noMemory;
    private boolean tracked;
    /** The peer has told that UCX has taken all of the messages that have come. */
    private boolean counted;
    /** UCX had not taken all of this side's messages when it ended. The peer can still get them, and is not to miss them. */
    private boolean hasAbandoned;

    /** Of the two roles. Who asks is bounded by itself, and who answers by the peer's good will: so they are told apart. */
    private final Sends asked;
    private final Sends answers;

    /**
     * @param connection whose messages about memory are taken from now on
     * @param shared     whether the two processes can attach each other's memory
     */
    public MemoryExchange(EndpointPort port, Connection connection, boolean shared, Host host) {
        this(port, connection, shared, host, new Frames());
    }

    MemoryExchange(EndpointPort port, Connection connection, boolean shared, Host host, Frames frames) {
        this.port = port;
        this.frames = frames;
        this.shared = shared;
        this.connection = connection;
        this.host = host;
        access = new MemoryAccess(this, port);
        asked = new Sends(this, port);
        answers = new Sends(this, port);
        serving = new MemoryServing(this, port, answers);
        connection.memory(this);
    }

    // ------------------------------------------------------------------------------------------- the connection's side

    @Override
    public void opened(int peer) {
        peerChannelId = peer;
    }

    /**
     * The channel is there: what the peer has asked for meanwhile is answered now.
     *
     * @param executor the loop's, for calls from other threads
     */
    public void start(Executor executor) {
        loop = executor;
        serving.advance();
    }

    /** Whether requests may be answered. */
    boolean isStarted() {
        return loop != null;
    }

    @Override
    public void onMessage(int type, int value, long message, long length) throws ProtocolException {
        counted = false;
        if (end != null) {
            port.discard(message);
        } else {
            switch (type) {
                case Tag.MEMORY_REQUEST -> serving.requested(value, message, length);
                case Tag.MEMORY_PUT -> serving.put(value, message, length);
                case Tag.MEMORY_ANSWER -> access.answered(value, message, length);
                case Tag.MEMORY_GET -> access.got(value, message, length);
                default -> {
                    port.discard(message);
                    if (length != 0) {
                        throw new ProtocolException("the peer sent " + length + " bytes with a message of type " + type
                                + "; expected none");
                    }
                    access.revoked(value);
                }
            }
        }
    }

    @Override
    public boolean isSending() {
        return hasAbandoned || asked.count() > 0 || answers.count() > 0;
    }

    @Override
    public void counted() {
        counted = true;
    }

    @Override
    public void ended(Supplier<IOException> cause) {
        if (end != null) {
            return;
        }
        end = cause.get();
        serving.ended();
        access.ended();
        hasAbandoned = isSending();
        asked.abandon();
        answers.abandon();
        frames.close();
        host.memoryReady();
    }

    /** Why nothing is sent any more, or {@code null}. */
    IOException end() {
        return end;
    }

    // ------------------------------------------------------------------------------------------- the channel's side

    /** What this side can do with the peer's memory. */
    public MemoryAccess access() {
        return access;
    }

    /** Tells what there is to tell. */
    public void deliver(NotificationListener listener) {
        serving.deliver(listener);
        access.deliver();
    }

    /** Takes what peers have put with a notification. */
    @FunctionalInterface
    public interface NotificationListener {

        void notified(UcxMemoryNotification notification);
    }

    // ------------------------------------------------------------------------------------------- for both roles

    Executor loop() {
        return loop;
    }

    boolean isShared() {
        return shared;
    }

    Frames frames() {
        return frames;
    }

    /**
     * A frame that a message is going to be received into.
     *
     * @throws OutOfMemoryError if there is none: then the message has been discarded
     */
    int frameFor(long message) {
        try {
            return frames.acquire();
        } catch (OutOfMemoryError e) {
            port.discard(message);
            throw e;
        }
    }

    /** The peer cannot be told what it has to be told. */
    void outOfMemory(OutOfMemoryError cause) {
        connection.outOfMemory(cause);
    }

    void ready() {
        host.memoryReady();
    }

    /** What has become of a message. */
    enum Sent {
        /** UCX has taken it. */
        TAKEN,
        /** UCX will take it, and uses its memory until then. */
        KEPT,
        /** It is not sent: the connection ends. */
        NOT
    }

    /**
     * Sends a message, if messages can be sent.
     *
     * @param frame the memory's, which is given back when UCX needs it no more; or -1
     * @param owner of the memory otherwise, of which a reference is taken over; or {@code null}
     */
    Sent send(int type, int value, long address, long length, int frame, ReferenceCounted owner) {
        Sends sends = type < Tag.MEMORY_ANSWER ? asked : answers;
        long request = 0;
        boolean isPosted = end == null && failure == 0;
        try {
            sends.prepare();
            if (isPosted) {
                request = port.send(address, length, Tag.of(peerChannelId, type, value));
            }
        } catch (OutOfMemoryError e) {
            noMemory = e;
            request = UcsStatus.ERR_NO_MEMORY;
        }
        if (request > 0) {
            sends.add(request, frame, owner);
            track();
        }
        if (isPosted && request >= 0) {
            count();
        }
        if (request > 0) {
            return Sent.KEPT;
        }
        if (request < 0) {
            failed((int) request);
        }
        if (frame >= 0 && end == null) {
            frames.release(frame);
        }
        if (owner != null) {
            owner.release();
        }
        return end == null && failure == 0 ? Sent.TAKEN : Sent.NOT;
    }

    /** UCX has the message, and its memory is looked after: whatever becomes of this. */
    private void count() {
        try {
            connection.sentAboutMemory();
        } catch (OutOfMemoryError e) {
            noMemory = e;
            failed(UcsStatus.ERR_NO_MEMORY);
        }
    }

    /** The same, of what a frame has. */
    Sent send(int type, int value, int frame, long length) {
        return send(type, value, frames.address(frame), length, frame, null);
    }

    /** Completes an operation when UCX has taken the message that it has just {@link Sent#KEPT kept}. */
    void completeWithLast(Operation operation) {
        asked.completeWithLast(operation);
    }

    /** @return whether all is there; otherwise it is polled for, or the connection ends */
    <R extends Requests.Request> boolean receive(Requests<R> receiving, R who, long message, long address, long length) {
        long request = port.receive(message, address, length);
        if (request > 0) {
            receiving.add(who, request);
            track();
        } else if (request < 0) {
            failed((int) request);
        }
        return request == 0;
    }

    /** The peer has broken the protocol by this message. */
    ProtocolException violation(long message, String what) {
        port.discard(message);
        return new ProtocolException(what);
    }

    /** An operation of UCX's has failed: the connection ends, not within this call. */
    void failed(int status) {
        if (failure == 0) {
            failure = status;
            track();
        }
    }

    // ------------------------------------------------------------------------------------------- in flight

    private void track() {
        if (!tracked && isBusy()) {
            port.track(this);
            tracked = true;
        }
    }

    private boolean isBusy() {
        return end == null && (isSending() || failure != 0 || isReceiving());
    }

    private boolean isReceiving() {
        return serving.isReceiving() || access.isReceiving();
    }

    @Override
    public boolean poll() {
        if (end == null) {
            asked.poll();
            answers.poll();
            try {
                serving.poll();
                access.poll();
                if (counted && isReceiving()) {
                    throw ProtocolException.ofLoss("parts of the peer's messages are missing");
                }
            } catch (ProtocolException e) {
                connection.violated(e);
            } catch (OutOfMemoryError e) {
                connection.outOfMemory(e);
            }
            if (noMemory != null && end == null) {
                connection.outOfMemory(noMemory);
            } else if (failure != 0 && end == null) {
                connection.operationFailed(failure);
            }
        }
        tracked = isBusy();
        return tracked;
    }

    @Override
    public boolean threw(Throwable cause) {
        connection.onMessageThrew(cause);
        tracked = isBusy();
        return tracked;
    }

    /** Gives back what the peer has taken since this turn began. */
    void pollAnswers() {
        answers.pollAll();
    }
}
