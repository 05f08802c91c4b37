// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.util.function.Supplier;

/**
 * The two directions of a byte stream over the messages of a link, which is a UCX endpoint that other connections use
 * as well.
 * <p>
 * It is made when the handshake on the control socket is nearly over, and takes messages from then on: the peer's can
 * be faster than the last words of the handshake. It sends none before {@link #open}. Nothing that happens to it
 * touches the link: what it has in flight when it ends is left to the worker.
 * <p>
 * Only the event-loop thread may call.
 */
public final class Connection implements MessageSink, InFlight, EndpointListener, EverySecond {

    private enum State {
        /** The handshake is not over: messages are taken, and none is sent. */
        OPENING,
        /** Bytes flow. */
        OPEN,
        /** Nothing more is sent or told, and nothing is in flight; what has arrived can still be read. */
        LOST,
        /** Given back. */
        CLOSED
    }

    private final EndpointPort port;
    private final int channelId;
    private final ConnectionListener listener;
    private final Inbound.Allocation stash;
    private final Traffic traffic;
    private final Outbound outbound;
    private final Inbound inbound;
    /** {@code null} where none can be missing. */
    private final MessageCount count;
    /** Whether {@link #look} is going to be called. */
    private boolean looking;
    /** {@code null} if there is nobody for messages about memory. */
    private MemoryMessages memory;
    private State state = State.OPENING;
    private boolean tracked;
    private boolean wanted;
    /** Set when the connection is lost. */
    private CloseReason closeReason;

    /**
     * Takes messages that carry {@code channelId} from now on.
     *
     * @param channelId  that this side has announced, or is about to; not 0, and nobody else's on the port's worker
     * @param window     that goes with it, in bytes, see {@link Limits}
     * @param maxMessage that goes with it, in bytes, at most the window
     * @param stash      makes the buffers for messages that arrive while nobody reads, or that are fetched ahead
     * @param traffic    counts what goes over the connection
     */
    public Connection(EndpointPort port, int channelId, int window, int maxMessage, ConnectionListener listener,
                      Inbound.Allocation stash, Traffic traffic) {
        assert channelId != 0;
        assert Limits.allow(window, maxMessage) : window + ", " + maxMessage;
        this.port = port;
        this.channelId = channelId;
        this.listener = listener;
        this.stash = stash;
        this.traffic = traffic;
        outbound = new Outbound(port, traffic);
        inbound = new Inbound(port, traffic, window, maxMessage);
        count = port.losesMessages() ? new MessageCount(outbound) : null;
        port.register(channelId, this);
    }

    /** Who takes messages about memory, from now on. */
    public void memory(MemoryMessages taker) {
        memory = taker;
    }

    /**
     * The handshake is over: from now on messages may be sent. Does nothing when the connection has been lost
     * meanwhile, of which the listener has been told then.
     *
     * @param peerChannelId  as the peer has announced it; not 0
     * @param peerWindow     as the peer has announced it, in bytes, see {@link Limits}
     * @param peerMaxMessage as the peer has announced it, in bytes
     */
    public void open(int peerChannelId, int peerWindow, int peerMaxMessage) {
        assert state != State.OPEN;
        if (state == State.OPENING) {
            state = State.OPEN;
            outbound.open(peerChannelId, peerWindow, peerMaxMessage);
            if (memory != null) {
                memory.opened(peerChannelId);
            }
            // The peer may have ended its stream already, or this side may have read or thrown away what came.
            settle();
        }
    }

    // ------------------------------------------------------------------------------------------- messages

    @Override
    public void onMessage(long tag, long message, long length) {
        if (!isAlive()) {
            port.discard(message);
            return;
        }
        try {
            int type = Tag.type(tag);
            if (type == Tag.DATA) {
                data(tag, message, length);
            } else if (type >= Tag.MEMORY_REQUEST && type <= Tag.MEMORY_REVOKED && memory != null) {
                if (count != null) {
                    count.memoryArrived();
                }
                memory.onMessage(type, Tag.value(tag), message, length);
            } else {
                port.discard(message);
                control(type, tag, length);
            }
        } catch (ProtocolException e) {
            lose(e, CloseReason.PROTOCOL_VIOLATION);
        }
    }

    private void control(int type, long tag, long length) throws ProtocolException {
        if ((type < Tag.CREDIT || type > Tag.FIN_ACK) && (type != Tag.COUNT || count == null)) {
            throw new ProtocolException("the peer sent a message of unknown type " + type);
        }
        if (length != 0) {
            throw new ProtocolException("the peer sent " + length + " bytes with a message of type " + type
                    + "; expected none");
        }
        switch (type) {
            case Tag.CREDIT -> {
                traffic.count(TrafficCounter.CREDIT_MESSAGES_RECEIVED);
                credit(Tag.value(tag));
            }
            case Tag.FIN -> {
                inbound.finished(tag);
                settle();
                listener.inputReady();
            }
            case Tag.COUNT -> counted(tag);
            default -> {
                if (!outbound.acknowledged()) {
                    throw new ProtocolException("the peer acknowledged an end of stream that was not sent");
                }
                listener.outputAcknowledged();
            }
        }
    }

    /** What is being received is looked at when all that has come has been taken, later in this turn. */
    private void counted(long tag) throws ProtocolException {
        if (inbound.isFailed()) {
            // What has come since is not counted, and the connection is about to end by what has failed.
            return;
        }
        count.check(tag, inbound.arrived());
        if (Tag.isWhole(tag)) {
            inbound.counted();
            if (memory != null) {
                memory.counted();
            }
        }
    }

    private void data(long tag, long message, long length) throws ProtocolException {
        inbound.data(tag, message, length, wanted, stash);
        if (Tag.grant(tag) != 0) {
            credit(Tag.grant(tag));
        }
        // What is thrown away is granted again at once: nobody is going to read and to settle.
        grantIfDue();
        trackIfBusy();
        listener.inputReady();
    }

    private void credit(int granted) throws ProtocolException {
        if (!outbound.granted(granted)) {
            throw new ProtocolException("the peer granted " + granted + " bytes, more than its window has");
        }
        listener.outputReady();
    }

    private void acknowledgeIfComplete() {
        // Not before the handshake has told which channel of the peer to acknowledge to.
        if (state == State.OPEN && inbound.complete(stash)) {
            outbound.sendFinAck();
        }
    }

    // ------------------------------------------------------------------------------------------- the channel's side

    public Outbound outbound() {
        return outbound;
    }

    /**
     * Can be read as long as the connection is not closed, also when it is lost: what has arrived before is still
     * there. What the peer has been told to have arrived, with {@code FIN_ACK}, is there to its end, whatever becomes
     * of the output.
     */
    public Inbound inbound() {
        return inbound;
    }

    /**
     * Takes the next bytes of the stream. If the application has released them with those before, the stream is not
     * whole, and the connection ends.
     *
     * @param limit      the most to take, in bytes; at least 1
     * @param allocation makes a buffer for a message that is not in our memory yet
     * @return a buffer that the caller owns, or {@code null} if there is nothing at the moment
     * @throws IllegalReferenceCountException if they have been released and the connection has ended before
     */
    public ByteBuf read(int limit, Inbound.Allocation allocation) {
        if (inbound.isNextReleased()) {
            IllegalReferenceCountException cause = new IllegalReferenceCountException(
                    "bytes that were still to be read have been released with the part before them");
            if (!isAlive()) {
                inbound.cutIncomplete(stash);
                throw cause;
            }
            onMessageThrew(cause);
            return null;
        }
        return inbound.read(limit, allocation);
    }

    public Traffic traffic() {
        return traffic;
    }

    public boolean isOpen() {
        return state == State.OPEN;
    }

    private boolean isAlive() {
        return state == State.OPENING || state == State.OPEN;
    }

    /** Tells whether the channel wants to read, which decides whether messages are held or moved into buffers. */
    public void wanted(boolean wanted) {
        this.wanted = wanted;
    }

    /** To be called after sends and reads: has what they left in flight polled, and gives credit that is due. */
    public void settle() {
        if (isAlive()) {
            grantIfDue();
            acknowledgeIfComplete();
            trackIfBusy();
            countIfSent();
        }
    }

    /** A message about memory has been sent, which the {@link #outbound()} does not see. */
    public void sentAboutMemory() {
        if (count != null) {
            outbound.postedAboutMemory();
            trackIfBusy();
            countIfSent();
        }
    }

    private void countIfSent() {
        if (count != null && count.isToBeWatched()) {
            lookLater();
            count.watched();
        }
    }

    private void lookLater() {
        if (!looking) {
            port.everySecond(this);
            looking = true;
        }
    }

    @Override
    public boolean look() {
        if (isAlive() && count != null && count.isWatched()) {
            count.look(memory != null && memory.isSending());
        }
        if (isAlive() && inbound.isGrantWaitedFor() && outbound.canSendCredit()) {
            outbound.sendCredit(inbound.takeGrant());
        }
        if (isAlive()) {
            trackIfBusy();
        }
        looking = isAlive() && (count != null && count.isWatched() || inbound.isGrantWaitedFor());
        return looking;
    }

    private void grantIfDue() {
        if (inbound.isGrantDue()) {
            if (outbound.canSendCredit()) {
                outbound.sendCredit(inbound.takeGrant());
            }
        } else if (inbound.isGrantWaitedFor()) {
            lookLater();
        }
    }

    /** Nobody reads any more: what has come and what will come is thrown away. */
    public void discardInput() {
        inbound.discard();
        settle();
    }

    /** The same for good, and nobody has to do with the peer's memory any more: all that is left is to end the output. */
    public void leave() {
        endMemory(ClosedChannelException::new);
        discardInput();
    }

    // ------------------------------------------------------------------------------------------- in flight

    private void trackIfBusy() {
        if (!tracked && isBusy()) {
            port.track(this);
            tracked = true;
        }
    }

    /** Whether there is something to poll for; that includes a failure that has not been told. */
    private boolean isBusy() {
        return !outbound.isIdle() || outbound.isControlInFlight() || outbound.isFailed()
                || inbound.isInFlight() || inbound.isFailed();
    }

    @Override
    public boolean poll() {
        tracked = isAlive() && pollAlive();
        return tracked;
    }

    @Override
    public boolean threw(Throwable cause) {
        tracked = false;
        onMessageThrew(cause);
        return false;
    }

    /** An error of the application's, such as a buffer that it has released while UCX reads it: its stream is not whole. */
    @Override
    public void onMessageThrew(Throwable cause) {
        if (cause instanceof OutOfMemoryError e) {
            outOfMemory(e);
        } else if (isAlive()) {
            lose(new IOException("Connection lost: " + cause, cause), CloseReason.LOST);
        }
    }

    private boolean pollAlive() {
        if (outbound.isControlInFlight()) {
            outbound.pollControls();
            // A grant that became due while another one was under way.
            grantIfDue();
        }
        if (outbound.poll()) {
            listener.outputReady();
        }
        if (inbound.poll()) {
            acknowledgeIfComplete();
            listener.inputReady();
        }
        if (inbound.isPartMissing()) {
            lose(ProtocolException.ofLoss("parts of the peer's messages are missing"), CloseReason.PROTOCOL_VIOLATION);
        } else if (outbound.isFailed()) {
            operationFailed(outbound.failure());
        } else if (inbound.isFailed()) {
            operationFailed(inbound.failure());
        }
        return isAlive() && isBusy();
    }

    /** UCX can fail an operation and keep the endpoint: then nobody else would tell of it. */
    public void operationFailed(int status) {
        if (!port.isFailing()) {
            endpointFailed(status);
        }
    }

    // ------------------------------------------------------------------------------------------- ends

    /** The link has failed, and every message that had arrived before has been delivered. */
    @Override
    public void endpointFailed(int status) {
        if (isAlive() && !endsInOrder()) {
            lose(EndpointFailure.of(status), ofLoss(CloseReason.ofFailure(status)));
        }
    }

    /**
     * The control socket has ended, by an end of stream or by a reset, and every message that had arrived over the link
     * before has been delivered. That is an orderly end if the peer's stream has ended and lies in memory; otherwise
     * the connection is lost.
     *
     * @param cause what the listener is told if it is lost; a {@link ProtocolException} if the peer has not gone, but
     *              said on the control socket what does not belong there
     */
    public void peerGone(IOException cause) {
        gone(cause, CloseReason.RESET_BY_PEER);
    }

    /** The same, where the kernel has reported another failure: the network has gone, and perhaps not the peer. */
    public void peerUnreachable(IOException cause) {
        gone(cause, CloseReason.LOST);
    }

    private void gone(IOException cause, CloseReason reason) {
        if (isAlive() && !endsInOrder()) {
            lose(cause, ofLoss(reason));
        }
    }

    /** The peer has done elsewhere what this protocol does not allow. */
    public void violated(ProtocolException cause) {
        if (isAlive()) {
            lose(cause, CloseReason.PROTOCOL_VIOLATION);
        }
    }

    /** There is no memory for a message: that is this connection's matter, and not its loop's. */
    public void outOfMemory(OutOfMemoryError cause) {
        if (isAlive()) {
            lose(new IOException("no memory for a message: " + cause.getMessage(), cause),
                    CloseReason.LOST);
        }
    }

    /** A peer that closes as well may do so before it has acknowledged our end. */
    private CloseReason ofLoss(CloseReason reason) {
        return outbound.isClosing() ? CloseReason.ORDERLY : reason;
    }

    /** If the peer has said that it would send no more, and is gone, that is no reset; but nobody reads our bytes. */
    private boolean endsInOrder() {
        if (state != State.OPEN || !isInputComplete()) {
            return false;
        }
        boolean finishing = outbound.isFinishing();
        closeReason = CloseReason.ORDERLY;
        state = State.LOST;
        // Before what is in flight is given up: who waits for that has to learn that it is in vain.
        listener.outputReady();
        outbound.abandon();
        endMemory(() -> new SocketException("Connection reset by peer"));
        if (finishing) {
            listener.outputAcknowledged();
        }
        listener.inputReady();
        return true;
    }

    private boolean isInputComplete() {
        // It can have become so since the last turn, and then the peer has no use for an acknowledgement.
        inbound.poll();
        inbound.complete(stash);
        return inbound.isComplete();
    }

    /** The release of an application's buffer can close the connection, here and on the way here: then nothing is told. */
    private void lose(IOException cause, CloseReason reason) {
        if (!isAlive()) {
            return;
        }
        state = State.LOST;
        closeReason = reason;
        if (cause instanceof ProtocolException violation && violation.isLoss()) {
            // That is not the peer's doing.
            closeReason = CloseReason.LOST;
            port.messagesLost();
        }
        outbound.abandon();
        inbound.fail(0);
        inbound.cutIncomplete(stash);
        if (state == State.LOST) {
            endMemory(() -> cause);
            listener.connectionFailed(cause);
        }
    }

    private void endMemory(Supplier<IOException> cause) {
        if (memory != null) {
            memory.ended(cause);
        }
    }

    /** How the connection has ended, or would end if it were closed now. */
    public CloseReason closeReason() {
        if (closeReason != null) {
            return closeReason;
        }
        if (outbound.isFailed() || inbound.isFailed()) {
            return CloseReason.LOST;
        }
        return outbound.isAcknowledged() || !inbound.peerReads() ? CloseReason.ORDERLY : CloseReason.ABORTED;
    }

    /**
     * Gives everything back; memory of operations in flight stays with the worker until UCX has completed them, and
     * messages that still come are dropped there. The caller lets go of the link afterwards. The peer is told nothing.
     */
    public void close() {
        if (state != State.CLOSED) {
            state = State.CLOSED;
            port.unregister(channelId);
            outbound.abandon();
            inbound.discard();
            endMemory(ClosedChannelException::new);
        }
    }
}
