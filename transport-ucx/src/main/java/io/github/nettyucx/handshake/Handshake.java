// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

/**
 * One side of a handshake. It ends once: with {@link Owner#opened}, with {@link Owner#failed}, or with
 * {@link #close()}. Bounded in size, not in time: who has a clock closes it when it takes too long. For the event
 * loop's thread.
 */
public abstract sealed class Handshake permits ClientHandshake, ServerHandshake {

    /** Most bytes that a caller ever has to keep for a frame that has not all come. */
    public static final int MAX_BUFFERED = 16 * 1024;

    /** Whose connection it is. It may close the handshake in any of these. */
    public interface Owner {

        /**
         * The frame is to go out, after those before it.
         *
         * @param frame a direct buffer, the owner's from now on
         */
        void send(ByteBuf frame);

        /** For how long the owner still waits for the end, in nanoseconds; {@link Long#MAX_VALUE} for ever. */
        default long nanosLeft() {
            return Long.MAX_VALUE;
        }

        /** Whether the peer has ended the connection by now, or it is lost, behind what the owner has come with. */
        default boolean isEnded() {
            return false;
        }

        /**
         * The two sides have agreed. The client is told when GO has been handed to {@link #send}, and what it sends on
         * lane socket follows GO directly; the server when GO has come.
         *
         * @param outcome with a pin of the link, which is the owner's from now on
         */
        void opened(Outcome outcome);

        /** It is over, nothing of it is left. What was given to {@link #send} is to go out, then the socket closed. */
        void failed(HandshakeException cause);
    }

    /** Work that can find the peer, or itself, at fault. */
    interface Step {
        void run() throws HandshakeException;
    }

    final Owner owner;
    private final Side self;
    private boolean closed;
    /** That this side is near, while the peer may look for it; or null. */
    private Nearness.Sign sign;

    Handshake(Side self, Owner owner) {
        this.self = self;
        this.owner = owner;
    }

    /**
     * Takes what has come in: whole frames. It leaves what is not a whole frame, less than {@value #MAX_BUFFERED}
     * bytes, and what follows the end of the handshake; the caller keeps that, and comes with it again when more has
     * come.
     */
    public final void received(ByteBuf in) {
        if (!isOver()) {
            attempt(() -> read(in));
        }
    }

    /** Gives up: releases, withdraws, abandons what it has. Tells nobody; does nothing if it is over. */
    public final void close() {
        closed = true;
        if (!isOver()) {
            end();
        }
    }

    /** Whether it has opened, failed or was closed. */
    public abstract boolean isOver();

    abstract void read(ByteBuf in) throws HandshakeException;

    /** It is over from now on; gives back what it has of links. */
    abstract void end();

    /** Whether a REFUSE would be read as one: not by a client that takes what comes for the stream by now. */
    abstract boolean mayRefuse();

    final void attempt(Step step) {
        try {
            step.run();
        } catch (HandshakeException e) {
            fail(e);
        } catch (OutOfMemoryError e) {
            if (isOver()) {
                throw e;
            }
            fail(new HandshakeException(HandshakeFailure.NO_MEMORY, self + " has no memory for the handshake", e));
        } catch (RuntimeException e) {
            if (isOver()) {
                throw e;
            }
            fail(new HandshakeException(HandshakeFailure.LOCAL_FAILURE, self + " failed in the handshake", e));
        }
    }

    private void fail(HandshakeException cause) {
        end();
        if (!cause.ofPeer() && cause.reason().code() != 0 && mayRefuse()) {
            try {
                owner.send(new Refuse(Hello.VERSION, cause.reason(), cause.getMessage()).encode());
            } catch (RuntimeException | OutOfMemoryError e) {
                // The peer sees the end of the socket instead.
                cause.addSuppressed(e);
            }
        }
        if (!closed) {
            owner.failed(cause);
        }
    }

    /** @return whether the peer can find it when it has the address */
    final boolean leaveSign(Nearness nearness, byte[] nonceOfPeer, byte[] address) {
        sign = nearness.show(Nearness.digest(nonceOfPeer, address));
        return sign != null;
    }

    final void removeSign() {
        Nearness.Sign mine = sign;
        sign = null;
        if (mine != null) {
            mine.remove();
        }
    }

    /** Reads a REFUSE, of which all has come. */
    final HandshakeException refusal(ByteBuf in) {
        return Refuse.decode(FrameType.read(in)).toException(self.other());
    }
}
