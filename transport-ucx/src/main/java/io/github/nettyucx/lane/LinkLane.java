// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.Hello;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.memory.MemoryExchange;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.StreamEnd;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.ConnectionListener;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.PipePool;
import io.github.nettyucx.worker.RegisteredMemory;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.SocketException;
import java.util.List;

/**
 * A stream over a link of UCX, which other connections share. The control socket carries nothing any more once the
 * handshake is over; its end tells that the peer has gone.
 * <p>
 * It is made before the handshake is over, because the peer's first messages can be faster than the handshake's last.
 */
final class LinkLane implements Lane, ConnectionListener, EndpointListener, MemoryExchange.Host {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LinkLane.class);
    private static final String WITHOUT_DEVICE = "unknown";

    private final LaneKind kind;
    private final OwnHalf half;
    private final StreamEnd control;
    private final Connection connection;
    private final LinkOutput output;
    private final LinkMemory memory;
    /** {@code null} where UCX needs no registered memory. */
    private final RegisteredAllocation reading;
    private LaneListener listener;
    private List<String> transports = List.of();
    private String name = WITHOUT_DEVICE;
    private IOException failure;
    /** How the control socket has ended, if it has. */
    private IOException ending;
    private boolean closed;

    /**
     * @param half    pinned; this lane lets go of it when it is closed
     * @param control that tells by its end that the peer has gone
     */
    LinkLane(LaneKind kind, OwnHalf half, StreamEnd control, ConnectionLimits limits,
             SendBufferPool sendBuffers, PipePool pipes, Allocation stash, Traffic traffic) {
        this.kind = kind;
        this.half = half;
        this.control = control;
        RegisteredMemory registered = sendBuffers.registered();
        reading = registered == null ? null : new RegisteredAllocation(registered);
        connection = new Connection(half.endpoint(), limits.channelId(), limits.window(), limits.maxMessage(),
                this, registered == null ? stash : new RegisteredAllocation(registered).before(stash), traffic);
        output = new LinkOutput(connection, sendBuffers, pipes);
        memory = new LinkMemory(half.endpoint(), connection, kind == LaneKind.SHM, this);
        half.endpoint().add(this);
    }

    OwnHalf half() {
        return half;
    }

    /** The handshake is over: bytes may be sent. */
    void open(Hello peer) {
        transports = half.endpoint().transports();
        if (!transports.isEmpty()) {
            String first = transports.getFirst();
            int device = first.indexOf('/');
            name = device < 0 ? first : first.substring(0, device);
        }
        connection.open(peer.channelId(), peer.window(), peer.maxMessage());
    }

    @Override
    public LaneKind kind() {
        return kind;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> transports() {
        return transports;
    }

    @Override
    public void listener(LaneListener told) {
        listener = told;
        memory.start(told.loop());
        if (failure != null) {
            lost();
        }
    }

    /** The channel may stay until all that has come is read. The peer is not to wait for that. */
    private void lost() {
        try {
            control.shutdownOutput();
        } catch (IOException e) {
            // The peer is gone already, or learns of it when the socket is closed.
        }
        listener.lost(failure);
    }

    @Override
    public MemoryExchange memory() {
        return memory.exchange();
    }

    @Override
    public void memoryReady() {
        if (listener != null) {
            listener.memoryReady();
        }
    }

    // ------------------------------------------------------------------------------------------- the control socket

    @Override
    public void socketReady(int events) {
        if (ending != null || closed) {
            return;
        }
        int received = control.peek();
        if (received == -Errno.EAGAIN) {
            return;
        }
        if (received > 0) {
            bytesOnControl();
            return;
        }
        // Its end comes after the end of the stream, which goes over the link; alone it is what is left of a process
        // that has gone.
        boolean reset = received == 0 || received == -Errno.ECONNRESET;
        IOException cause = reset ? new SocketException("Connection reset by peer") : Errno.exception("recv", -received);
        ending = cause;
        half.worker().afterArrived(() -> {
            if (closed) {
                return;
            }
            guarded(() -> {
                if (reset) {
                    connection.peerGone(cause);
                } else {
                    connection.peerUnreachable(cause);
                }
            });
        });
    }

    @Override
    public void faulted(Throwable cause) {
        if (listener != null) {
            listener.faulted(cause);
            return;
        }
        // The handshake is not over. The channel learns of it when it takes the lane.
        logger.warn("A connection over {} is lost because of an unexpected exception.", kind, cause);
        if (failure == null) {
            failure = new IOException("Connection lost: " + cause, cause);
        }
    }

    /** What is told by the worker is this channel's matter, and what that throws is as well. */
    private void guarded(Runnable news) {
        try {
            news.run();
        } catch (Throwable e) {
            faulted(e);
        }
    }

    private void bytesOnControl() {
        ProtocolException violation =
                new ProtocolException("the peer sent bytes on the control socket after the handshake; expected none");
        ending = violation;
        connection.violated(violation);
    }

    @Override
    public void endpointFailed(int status) {
        guarded(() -> connection.endpointFailed(status));
    }

    // ------------------------------------------------------------------------------------------- what the stream tells

    @Override
    public void connectionFailed(IOException cause) {
        failure = cause;
        if (listener != null) {
            lost();
        }
    }

    @Override
    public void inputReady() {
        if (listener != null) {
            listener.inputReady();
        }
    }

    @Override
    public void outputReady() {
        if (listener != null) {
            listener.outputReady();
        }
    }

    @Override
    public void outputAcknowledged() {
        if (listener != null) {
            listener.endAcknowledged();
        }
    }

    // ------------------------------------------------------------------------------------------- input

    @Override
    public boolean isReadable() {
        return connection.inbound().isReadable();
    }

    @Override
    public ByteBuf read(int limit, Allocation allocation) {
        return connection.read(limit, reading == null ? allocation : reading.before(allocation));
    }

    @Override
    public boolean isAtEnd() {
        return connection.inbound().isAtEnd();
    }

    @Override
    public boolean isInputFinished() {
        return connection.inbound().isFinished();
    }

    @Override
    public void wanted(boolean wanted) {
        connection.wanted(wanted);
    }

    @Override
    public void discardInput() {
        connection.discardInput();
    }

    @Override
    public void leave() {
        connection.leave();
    }

    // ------------------------------------------------------------------------------------------- output

    @Override
    public Written write(ChannelOutboundBuffer in, int spins) throws Exception {
        if (failure != null) {
            throw failure;
        }
        if (ending != null) {
            // Whatever the peer has sent before: it takes nothing more.
            throw ending;
        }
        return output.write(in, spins);
    }

    @Override
    public void resume(ChannelOutboundBuffer in) {
        output.resume(in);
    }

    @Override
    public void complete(ChannelOutboundBuffer in) {
        output.complete(in);
    }

    @Override
    public void finish(boolean readsNoMore) {
        if (connection.isOpen()) {
            connection.outbound().finish(readsNoMore);
        }
    }

    @Override
    public boolean isOutputOpen() {
        return connection.isOpen() && connection.outbound().isOpen();
    }

    @Override
    public boolean isEndDelivered() {
        return !connection.outbound().isOpen() && !connection.outbound().isFinishing();
    }

    @Override
    public boolean mustLinger(boolean drained) {
        return connection.isOpen() && (connection.outbound().isOpen() || connection.outbound().isFinishing())
                && connection.inbound().peerReads();
    }

    @Override
    public boolean isIdle() {
        return connection.outbound().isIdle();
    }

    // ------------------------------------------------------------------------------------------- both

    @Override
    public boolean isOpen() {
        return connection.isOpen();
    }

    @Override
    public boolean isEnding() {
        return connection.isOpen() && (ending != null || half.endpoint().isFailing());
    }

    @Override
    public boolean peerReads() {
        return connection.inbound().peerReads();
    }

    @Override
    public long moved() {
        return connection.outbound().moved();
    }

    @Override
    public void settle() {
        connection.settle();
    }

    @Override
    public IOException failure() {
        return failure;
    }

    @Override
    public CloseReason closeReason() {
        return connection.closeReason();
    }

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        output.release();
        connection.close();
        half.endpoint().remove(this);
        half.release();
        if (reset) {
            try {
                control.resetOnClose();
            } catch (IOException e) {
                // Then it is an end, which the peer takes for a reset as well: no end of the stream has come before it.
            }
        }
    }
}
