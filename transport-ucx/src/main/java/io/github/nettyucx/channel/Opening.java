// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.Handshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.handshake.Terms;
import io.github.nettyucx.lane.Allocation;
import io.github.nettyucx.lane.ConnectionLimits;
import io.github.nettyucx.lane.Farewell;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.lane.SocketLane;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.IntSetting;
import io.github.nettyucx.worker.NativeBuffers;
import io.github.nettyucx.worker.SocketWatcher;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a channel does while it connects: the control socket, the handshake over it, and the lane that comes out of it.
 * It ends with one call of {@link Connecting#opened} or {@link Connecting#failed}, or is cancelled.
 */
abstract class Opening implements SocketWatcher, Handshake.Owner {

    static final IntSetting PEER_TIMEOUT_SETTING =
            IntSetting.of("io.github.nettyucx.peerTimeoutSeconds", 30, 0, 32767, "seconds, 0 for no limit");
    static final IntSetting PLAIN_GRACE_SETTING =
            IntSetting.of("io.github.nettyucx.plainGraceMillis", 200, 1, Integer.MAX_VALUE, "milliseconds");
    static final IntSetting ANSWER_SETTING =
            IntSetting.of("io.github.nettyucx.answerMillis", 3000, 1, Integer.MAX_VALUE, "milliseconds");
    private static final int PEER_TIMEOUT_SECONDS = PEER_TIMEOUT_SETTING.value();

    private static final int FIRST_CAPACITY = 512;

    /** A loop that looks at its timers so much later than it ought to has been held up, perhaps with its whole process. */
    private static final long HELD_UP_NANOS = TimeUnit.SECONDS.toNanos(1);

    final UcxSocketChannel channel;
    final LoopLanes loop;
    KernelSocket socket;
    /** What has been received and not been understood yet. */
    ByteBuf in;
    Handshake handshake;
    private final ArrayDeque<ByteBuf> out = new ArrayDeque<>(0);
    /** Why the kernel has not taken what is in {@link #out}: an error number. */
    private int unsentErrno;
    /** The socket's events so far, which its lane has to know of. */
    private int seen;
    private boolean over;
    /** The peer is to be told why there is no connection. */
    private boolean refusing;
    private Future<?> timeout;
    /** How long that is for, and what of it has passed already. */
    private int limitMillis;
    private int passedMillis;
    /** When it is due. */
    private long endNanos;
    /** For how long this loop has been held up so far, beyond the limits of the time. */
    private long heldUpNanos;
    /** Whether the socket has had something since that was last asked. */
    private boolean heard;
    private int channelId;
    ConnectionLimits limits;

    Opening(UcxSocketChannel channel, LoopLanes loop) {
        this.channel = channel;
        this.loop = loop;
    }

    final boolean isOver() {
        return over;
    }

    /** Instead of what it was bound by before. */
    final void boundBy(int millis) {
        leaveLimit();
        passedMillis = 0;
        bound(millis);
    }

    /** The same by what is left of a time that began earlier, but for what this loop was held up for since. */
    final void boundByRest(int millis, long beginNanos) {
        leaveLimit();
        long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos - heldUpNanos);
        passedMillis = (int) Math.min(millis - 1, passed);
        bound(millis - passedMillis);
    }

    private void leaveLimit() {
        if (timeout != null) {
            timeout.cancel(false);
            long late = System.nanoTime() - endNanos;
            heldUpNanos += late >= HELD_UP_NANOS ? late : 0;
        }
    }

    private void bound(int millis) {
        limitMillis = millis;
        endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        timeout = channel.eventLoop().schedule(this::timeIsUp, millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Gives up.
     *
     * @param millis that there were
     */
    abstract void timedOut(int millis);

    @Override
    public final long nanosLeft() {
        return timeout == null ? Long.MAX_VALUE : Math.max(0, endNanos - System.nanoTime());
    }

    /** This side has taken so long for something of its own: that is not the peer's time. */
    final void prolong(long nanos) {
        endNanos += nanos;
    }

    /**
     * The peer is late, or this loop is: what the peer has said in time may still lie in the socket. A loop that was held
     * up for long, as by SIGSTOP, gives a peer that has said something the same time again, for it could not be answered.
     */
    private void timeIsUp() {
        if (isPutOff()) {
            return;
        }
        boolean heldUp = System.nanoTime() - endNanos >= HELD_UP_NANOS;
        heard = false;
        Future<?> due = timeout;
        socketReady(Epoll.IN | Epoll.OUT);
        if (over || timeout != due) {
            // What has come has ended this, or has set a limit of its own to what follows.
            return;
        }
        if (heldUp && heard) {
            leaveLimit();
            bound(limitMillis);
        } else if (!isPutOff()) {
            timedOut(passedMillis + limitMillis);
        }
    }

    /** @return whether the time has been prolonged: then it is not up yet */
    private boolean isPutOff() {
        long left = endNanos - System.nanoTime();
        if (left <= 0) {
            return false;
        }
        timeout = channel.eventLoop().schedule(this::timeIsUp, left, TimeUnit.NANOSECONDS);
        return true;
    }

    /** The peer, or the kernel, has done something. */
    final void heard() {
        heard = true;
    }

    // ------------------------------------------------------------------------------------------- the socket

    final void watch() throws IOException {
        loop.engine().noteSocketWork();
        loop.engine().watch(socket, SocketLane.INTEREST, this);
    }

    @Override
    public final void socketReady(int events) {
        if (over) {
            return;
        }
        seen |= events;
        try {
            ready(events);
        } catch (IOException e) {
            fail(e, HandshakeFailure.CONNECT_FAILED);
        } catch (OutOfMemoryError e) {
            // The peer is told by an orderly end: a reset says nothing, and what he has sent may still lie in the socket.
            refusing = true;
            failed(new HandshakeException(HandshakeFailure.NO_MEMORY, "there is no memory for the handshake", e));
        } catch (RuntimeException e) {
            // This connection's misfortune.
            fail(new IOException("the handshake could not go on: " + e, e), HandshakeFailure.LOCAL_FAILURE);
        }
    }

    /** {@inheritDoc} It has failed to fail. */
    @Override
    public final void faulted(Throwable cause) {
        channel.faulted(cause);
    }

    abstract void ready(int events) throws IOException;

    /** Takes what has come, until the socket has nothing more or this is over. */
    final void receive() throws IOException {
        while (!over) {
            if (in == null && !allocate()) {
                return;
            }
            in.discardReadBytes();
            in.ensureWritable(FIRST_CAPACITY / 2);
            int end = in.writerIndex();
            int room = in.writableBytes();
            int received = socket.receive(BufferAddress.of(in, end, room), room);
            if (received > 0) {
                heard();
                // More is said soon, and the other side waits for the answer.
                loop.engine().noteSocketWork();
                in.writerIndex(end + received);
                received();
            } else if (received == 0) {
                ended();
                return;
            } else if (received == -Errno.EAGAIN) {
                if (!in.isReadable()) {
                    // Who connects and says nothing costs no buffer.
                    in.release();
                    in = null;
                }
                return;
            } else {
                fail(Errno.exception("recv", -received), reason(-received));
            }
        }
    }

    /** @return whether this is not over: the allocator is the application's, and may have closed the channel */
    private boolean allocate() {
        ByteBuf buffer = NativeBuffers.allocate(channel.alloc(), FIRST_CAPACITY);
        if (over) {
            buffer.release();
            return false;
        }
        in = buffer;
        return true;
    }

    /** What an error of the socket's says of the peer. A reset is an end as any other, as far as a handshake goes. */
    private static HandshakeFailure reason(int errno) {
        return errno == Errno.ECONNRESET || errno == Errno.EPIPE ? HandshakeFailure.CLOSED_BY_PEER
                : HandshakeFailure.CONNECT_FAILED;
    }

    /** More bytes are in {@link #in}. */
    abstract void received() throws IOException;

    /** The peer sends no more. */
    abstract void ended() throws IOException;

    @Override
    public final void send(ByteBuf frame) {
        // The only frame of a handshake that has ended.
        refusing |= handshake.isOver();
        out.add(frame);
        flush();
    }

    /** Frames are small, and the socket's buffer is empty: only a peer that reads nothing has any of them wait. */
    final void flush() {
        // Whatever it is but EAGAIN, the next receive tells as well.
        unsentErrno = -Farewell.send(socket, out);
    }

    /** Not for ordinary peers: how long theirs may be silent is the application's matter. */
    private void lookAfterPeer(boolean silent) {
        int seconds = PEER_TIMEOUT_SECONDS;
        if (seconds == 0) {
            return;
        }
        channel.config().socketOptions().take(KeepAlive.SETTINGS);
        try {
            KeepAlive.within(seconds).set(socket);
            // Not where the bytes go over it: the kernel takes a peer for dead then that lives and does not read. See
            // SocketLane.checkPeer.
            socket.set(SocketSetting.USER_TIMEOUT_MILLIS, silent ? (int) TimeUnit.SECONDS.toMillis(seconds) : 0);
        } catch (IOException e) {
            // An end that came meanwhile: the lane tells it.
        }
    }

    // ------------------------------------------------------------------------------------------- the handshake

    /** What this side brings along. */
    final Terms terms() {
        UcxSocketChannelConfig config = channel.config();
        LaneSet lanes = config.laneSet();
        LoopLanes.Supply supply = LoopLanes.supply(lanes);
        channelId = loop.engine().newChannelId();
        limits = new ConnectionLimits(channelId, config.window(), config.maxMessage());
        return new Terms(lanes, supply.available(), supply.reasons(), supply.ucxVersion(), loop.party(),
                config.secret(), config.isTranslatedAddresses(), channelId, limits.window(), limits.maxMessage(),
                channel.localAddress(), channel.remoteAddress(), KernelNearness.INSTANCE);
    }

    @Override
    public final void opened(Outcome outcome) {
        if (!out.isEmpty()) {
            if (outcome.link() != null) {
                outcome.link().release();
            }
            unsent();
            return;
        }
        if (outcome.lane() != LaneKind.SOCKET && in != null && in.isReadable()) {
            outcome.link().release();
            failed(new HandshakeException(HandshakeFailure.PROTOCOL_VIOLATION, "the peer sent " + in.readableBytes()
                    + " bytes on the control socket behind the handshake; expected none"));
            return;
        }
        lookAfterPeer(outcome.lane() != LaneKind.SOCKET);
        handOver(lane(outcome), outcome.reasons(), outcome.lane() == LaneKind.SOCKET
                ? (int) TimeUnit.SECONDS.toMillis(PEER_TIMEOUT_SECONDS) : 0);
    }

    /** The kernel has not taken the end of the handshake. The lane would begin before the peer knows of it. */
    private void unsent() {
        switch (unsentErrno) {
            // Its buffer was empty: so it has no memory for some bytes.
            case Errno.EAGAIN, Errno.ENOBUFS, Errno.ENOMEM -> failed(new HandshakeException(HandshakeFailure.NO_MEMORY,
                    "the kernel does not take the end of the handshake"));
            default -> fail(Errno.exception("send", unsentErrno), reason(unsentErrno));
        }
    }

    private void handOver(Lane lane, List<String> reasons, int silenceMillis) {
        loop.engine().rewatch(socket, lane);
        end(true);
        try {
            // What has been seen and not been taken will not be told again.
            channel.connecting().opened(lane, reasons, silenceMillis, seen | Epoll.IN | Epoll.OUT);
        } catch (Throwable e) {
            // This is over: whoever waits for it would hear of nothing.
            try {
                channel.connecting().openedInVain(lane, e);
            } finally {
                told(new IOException("the connection could not be used: " + e, e));
            }
        }
    }

    abstract Lane lane(Outcome outcome);

    /** Static, because the lane keeps it, and would keep an opening that is over along with it. */
    static Allocation stash(UcxSocketChannel channel) {
        return length -> NativeBuffers.allocate(channel.alloc(), length);
    }

    /** What came after the handshake belongs to the stream. */
    final ByteBuf takeRest() {
        ByteBuf rest = in;
        in = null;
        if (rest != null && !rest.isReadable()) {
            rest.release();
            rest = null;
        }
        return rest;
    }

    /**
     * Goes on as an ordinary connection.
     *
     * @param reason why there is no handshake, or {@code null} if nobody wants one
     */
    final void openPlain(String reason) {
        openPlain(reason, loop.socketLane(socket, channel.traffic(), takeRest()));
    }

    final void openPlain(String reason, SocketLane lane) {
        channel.connectionMetrics().plain(reason);
        handOver(lane, List.of(), 0);
    }

    @Override
    public final void failed(HandshakeException cause) {
        fail(cause, cause.reason());
    }

    final void fail(IOException cause, HandshakeFailure reason) {
        if (!over && !isTriedAgain(cause, reason)) {
            flush();
            ArrayDeque<ByteBuf> words = new ArrayDeque<>(out);
            out.clear();
            if (!refusing) {
                words.forEach(ByteBuf::release);
            }
            end(false);
            channel.connectionMetrics().failed(reason, remote(), cause);
            channel.connecting().failed(refusing ? words : null);
            told(cause);
        }
    }

    /** Another attempt has been begun, with the handshake or without it: nobody is told. This is over then. */
    boolean isTriedAgain(IOException cause, HandshakeFailure reason) {
        return false;
    }

    /** The connection is open. @return whether it is still wanted */
    abstract boolean succeed();

    /** There is no connection: tells whoever waits for it, and Netty that the channel is closed. */
    abstract void told(IOException cause);

    /** The channel is closed. */
    final void cancel() {
        close();
        ClosedChannelException cause = new ClosedChannelException();
        channel.connectionMetrics().failed(HandshakeFailure.CANCELLED, remote(), cause);
        cancelled(cause);
    }

    abstract void cancelled(ClosedChannelException cause);

    /** Gives up, and tells nobody; the socket is left to its owner. */
    final void close() {
        if (!over) {
            end(false);
        }
    }

    private void end(boolean successful) {
        over = true;
        if (timeout != null) {
            timeout.cancel(false);
        }
        if (handshake != null && !successful) {
            handshake.close();
        }
        if (in != null) {
            in.release();
            in = null;
        }
        for (ByteBuf frame = out.poll(); frame != null; frame = out.poll()) {
            frame.release();
        }
        if (channelId != 0) {
            releaseChannelId(successful);
        }
        ended(successful);
    }

    private void releaseChannelId(boolean successful) {
        if (successful) {
            channel.channelId(channelId);
        } else {
            loop.engine().releaseChannelId(channelId);
        }
    }

    /** Last. */
    void ended(boolean successful) {
        // Nothing more to give back.
    }

    abstract InetSocketAddress remote();
}
