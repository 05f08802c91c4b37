// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.buffer.ByteBuf;

import java.io.IOException;

/**
 * A connection: the handshake, and then its two directions.
 * <p>
 * Both sides do the same, whoever connected: wait until the endpoint is connected, send HELLO and receive the peer's.
 */
public final class Connection implements MessageSink, InFlight, EndpointListener {

    private enum State {
        /** The endpoint connects. */
        CONNECTING,
        /** HELLOs are under way. */
        GREETING,
        /** Bytes flow. */
        OPEN,
        /** Nothing more is sent or told; what has arrived can still be read. */
        LOST,
        /** Given back. */
        CLOSED
    }

    private static final int IN_PROGRESS = 1;

    private final Limits limits;
    private final ConnectionListener listener;
    private final Inbound.Allocation stash;
    private final Traffic traffic;
    private EndpointPort port;
    private State state = State.CONNECTING;
    private Outbound outbound;
    private Inbound inbound;
    private int channelId;
    private boolean tracked;
    private boolean wanted;
    /** Set when the connection is lost, one of them. */
    private HandshakeFailure handshakeFailure;
    private CloseReason closeReason;

    private long flush;
    private long helloSend;
    private long helloReceive;
    private ByteBuf helloOut;
    private ByteBuf helloIn;

    /**
     * What this side announces.
     *
     * @param ucxVersion {@code major << 24 | minor << 16 | release}
     * @param window     in bytes, from {@link Hello#MIN_WINDOW} to {@link Hello#MAX_WINDOW}
     * @param maxMessage in bytes, at most the window
     */
    public record Limits(int ucxVersion, int window, int maxMessage) {
    }

    /**
     * @param stash   makes the buffers for the handshake, and for messages that arrive while nobody reads
     * @param traffic counts what goes over the connection
     */
    public Connection(Limits limits, ConnectionListener listener, Inbound.Allocation stash, Traffic traffic) {
        this.limits = limits;
        this.listener = listener;
        this.stash = stash;
        this.traffic = traffic;
    }

    /** Starts the handshake on a new endpoint, of which this connection is the {@link EndpointListener}. */
    public void start(EndpointPort endpoint) {
        port = endpoint;
        outbound = new Outbound(port, traffic);
        inbound = new Inbound(port, traffic, limits.window(), limits.maxMessage());
        flush = port.flush();
        track();
    }

    private void track() {
        if (!tracked) {
            tracked = true;
            port.track(this);
        }
    }

    // ------------------------------------------------------------------------------------------- handshake

    private void greet() {
        try {
            helloOut = stash.allocate(Hello.LENGTH);
            helloIn = stash.allocate(Hello.LENGTH);
        } catch (OutOfMemoryError | RuntimeException e) {
            // This connection's misfortune: from here it would reach the loop, and an Error ends that.
            handshakeFailure = HandshakeFailure.NO_MEMORY;
            lose(new IOException("no memory for the handshake: " + e.getMessage(), e));
            return;
        }
        state = State.GREETING;
        channelId = port.newChannelId();
        port.register(channelId, this);
        new Hello(Hello.VERSION, limits.ucxVersion(), channelId, limits.window(), limits.maxMessage())
                .encode(helloOut);
        helloReceive = port.receiveStream(BufferAddress.of(helloIn, 0, Hello.LENGTH), Hello.LENGTH);
        helloSend = port.sendStream(BufferAddress.of(helloOut, 0, Hello.LENGTH), Hello.LENGTH);
    }

    private void pollFlush() {
        flush = finished(flush);
        if (flush == 0) {
            greet();
        } else if (flush < 0) {
            operationFailed((int) flush);
        }
    }

    private void pollGreeting() {
        helloSend = finished(helloSend);
        helloReceive = finished(helloReceive);
        if (helloSend < 0 || helloReceive < 0) {
            operationFailed((int) Math.min(helloSend, helloReceive));
            return;
        }
        if (helloSend != 0 || helloReceive != 0) {
            return;
        }
        Hello hello;
        try {
            helloIn.writerIndex(Hello.LENGTH);
            hello = Hello.decode(helloIn, limits.ucxVersion());
        } catch (ProtocolException e) {
            violated(e);
            return;
        } finally {
            releaseHellos();
        }
        state = State.OPEN;
        outbound.open(hello);
        listener.connectionOpened();
        // The peer may have ended its stream already: messages can overtake the HELLO.
        acknowledgeWhenComplete();
    }

    /** @return 0 if it has completed, its negative status if it has failed, or else the request */
    private long finished(long request) {
        if (request <= 0) {
            return request;
        }
        int status = port.status(request);
        if (status == IN_PROGRESS) {
            return request;
        }
        port.free(request);
        return status;
    }

    private void releaseHellos() {
        helloOut.release();
        helloIn.release();
        helloOut = null;
        helloIn = null;
    }

    // ------------------------------------------------------------------------------------------- messages

    @Override
    public void onMessage(long tag, long message, long length) {
        if (state == State.LOST || state == State.CLOSED) {
            discard(message);
            return;
        }
        try {
            int type = Tag.type(tag);
            if (type == Tag.DATA) {
                data(tag, message, length);
            } else {
                discard(message);
                control(type, Tag.value(tag), length);
            }
        } catch (ProtocolException e) {
            violated(e);
        }
    }

    private void control(int type, int value, long length) throws ProtocolException {
        if (type < Tag.CREDIT || type > Tag.FIN_ACK) {
            throw new ProtocolException("the peer sent a message of unknown type " + type);
        }
        if (length != 0) {
            throw new ProtocolException("the peer sent " + length + " bytes with a message of type " + type
                    + "; expected none");
        }
        switch (type) {
            case Tag.CREDIT -> {
                traffic.count(TrafficCounter.CREDIT_MESSAGES_RECEIVED);
                credit(value);
            }
            case Tag.FIN -> {
                inbound.finished(value != Tag.FIN_CLOSE);
                acknowledgeWhenComplete();
                listener.inputReady();
            }
            default -> {
                if (!outbound.acknowledged()) {
                    throw new ProtocolException("the peer acknowledged an end of stream that was not sent");
                }
                listener.outputAcknowledged();
            }
        }
    }

    private void data(long tag, long message, long length) throws ProtocolException {
        inbound.data(message, length, wanted, stash);
        if (Tag.value(tag) != 0) {
            credit(Tag.value(tag));
        }
        // What is thrown away is granted again at once: nobody is going to read and to settle.
        grantIfDue();
        trackIfInFlight();
        listener.inputReady();
    }

    private void credit(int granted) throws ProtocolException {
        if (!outbound.granted(granted)) {
            throw new ProtocolException("the peer granted " + granted + " bytes, more than its window has");
        }
        listener.outputReady();
    }

    private void discard(long message) {
        long request = port.receive(message, 0, 0);
        if (request > 0) {
            port.abandon(request, null);
        }
    }

    private void acknowledgeWhenComplete() {
        // Not before the HELLO has told which channel of the peer to acknowledge to.
        if (state == State.OPEN && inbound.complete(stash)) {
            outbound.sendFinAck();
        }
        trackIfInFlight();
    }

    // ------------------------------------------------------------------------------------------- the channel's side

    public Outbound outbound() {
        return outbound;
    }

    public Inbound inbound() {
        return inbound;
    }

    public Traffic traffic() {
        return traffic;
    }

    public boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whether the handshake is under way. */
    public boolean isOpening() {
        return state == State.CONNECTING || state == State.GREETING;
    }

    /** Tells whether the channel wants to read, which decides whether messages are held or moved into buffers. */
    public void wanted(boolean wanted) {
        this.wanted = wanted;
    }

    /** To be called after sends and reads: has what they left in flight polled, and gives credit that is due. */
    public void settle() {
        if (state != State.OPEN) {
            return;
        }
        grantIfDue();
        acknowledgeWhenComplete();
    }

    private void grantIfDue() {
        if (inbound.isGrantDue() && outbound.canSendCredit()) {
            outbound.sendCredit(inbound.takeGrant());
        }
    }

    /** Nobody reads any more: what has come and what will come is thrown away. */
    public void discardInput() {
        if (inbound != null) {
            inbound.discard();
            settle();
        }
    }

    private void trackIfInFlight() {
        if (isBusy()) {
            track();
        }
    }

    /** Whether there is something to poll for; that includes a failure that has not been told. */
    private boolean isBusy() {
        return !outbound.isIdle() || outbound.isControlInFlight() || outbound.isFailed()
                || inbound.isInFlight() || inbound.isFailed();
    }

    @Override
    public boolean poll() {
        if (state == State.CONNECTING) {
            pollFlush();
        }
        if (state == State.GREETING) {
            pollGreeting();
        }
        tracked = switch (state) {
            case CONNECTING, GREETING -> true;
            case OPEN -> pollOpen();
            case LOST, CLOSED -> false;
        };
        return tracked;
    }

    private boolean pollOpen() {
        if (outbound.isControlInFlight()) {
            outbound.pollControls();
            // A grant that became due while another one was under way.
            grantIfDue();
        }
        if (outbound.hasCompletions()) {
            listener.outputReady();
        }
        if (inbound.poll()) {
            acknowledgeWhenComplete();
            listener.inputReady();
        }
        if (outbound.isFailed()) {
            operationFailed(outbound.failure());
        } else if (inbound.isFailed()) {
            operationFailed(inbound.failure());
        }
        return state == State.OPEN && isBusy();
    }

    /** UCX can fail an operation and keep the endpoint: then nobody else would tell of it. */
    private void operationFailed(int status) {
        if (!port.isFailing()) {
            endpointFailed(status);
        }
    }

    // ------------------------------------------------------------------------------------------- ends

    @Override
    public void endpointFailed(int status) {
        if (state == State.OPEN && inbound.isComplete()) {
            // The peer said that it would send no more, and is gone: no reset, but nobody reads our bytes.
            boolean finishing = outbound.isFinishing();
            outbound.fail(status);
            closeReason = CloseReason.ORDERLY;
            state = State.LOST;
            listener.outputReady();
            if (finishing) {
                listener.outputAcknowledged();
            }
            listener.inputReady();
        } else if (state != State.LOST && state != State.CLOSED) {
            switch (state) {
                case CONNECTING -> handshakeFailure = HandshakeFailure.whileConnecting(status);
                case GREETING -> handshakeFailure = HandshakeFailure.CLOSED_BY_PEER;
                // A peer that closes as well may do so before it has acknowledged our end.
                default -> closeReason = outbound.isClosing()
                        ? CloseReason.ORDERLY : CloseReason.ofFailure(status);
            }
            lose(reason(status));
        }
    }

    @Override
    public boolean expects(int status) {
        return switch (state) {
            case CONNECTING -> EndpointListener.isRefusal(status);
            case OPEN -> inbound.isFinished() || outbound.isClosing();
            default -> false;
        };
    }

    private IOException reason(int status) {
        return switch (state) {
            case CONNECTING -> EndpointFailure.whileConnecting(status);
            case GREETING -> EndpointFailure.whileGreeting(status);
            default -> EndpointFailure.ofOpenConnection(status);
        };
    }

    private void violated(ProtocolException cause) {
        if (state == State.OPEN) {
            closeReason = CloseReason.PROTOCOL_VIOLATION;
        } else {
            handshakeFailure = cause.refusal();
        }
        lose(cause);
    }

    private void lose(IOException cause) {
        state = State.LOST;
        outbound.fail(0);
        inbound.fail(0);
        inbound.cutIncomplete(stash);
        listener.connectionFailed(cause);
    }

    /** Why the connection was lost before it was open, or {@code null} if it was not. */
    public HandshakeFailure handshakeFailure() {
        return handshakeFailure;
    }

    /** How the connection, which has been open, has ended or would end if it were closed now. */
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
     * Gives everything back; memory of operations in flight stays with the worker until UCX has completed them. The
     * caller closes the endpoint afterwards.
     */
    public void close() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        if (port == null) {
            return;
        }
        if (channelId != 0) {
            port.unregister(channelId);
        }
        if (flush > 0) {
            port.abandon(flush, null);
        }
        abandon(helloSend, helloOut);
        abandon(helloReceive, helloIn);
        helloOut = null;
        helloIn = null;
        outbound.abandon();
        inbound.discard();
    }

    private void abandon(long request, ByteBuf memory) {
        if (request > 0) {
            port.abandon(request, memory);
        } else if (memory != null) {
            memory.release();
        }
    }
}
