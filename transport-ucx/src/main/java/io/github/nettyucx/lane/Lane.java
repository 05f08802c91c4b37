// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.memory.MemoryExchange;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.worker.SocketWatcher;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

import java.io.IOException;
import java.util.List;

/**
 * What carries the bytes of one connection, in both directions. Only the event loop's thread calls.
 * <p>
 * It watches the connection's control socket, which somebody else owns and closes: {@link #socketReady} has to be called
 * with each of its events. A call without events asks the lane to look whether the peer has gone, if writing does not
 * tell.
 */
public interface Lane extends SocketWatcher {

    /** Which of the lanes that the two sides could agree on this is. */
    LaneKind kind();

    /** UCX's name of the transport that carries the data, such as {@code sysv}; or {@code socket}. */
    String name();

    /** All transports, each with its device, such as {@code sysv/memory}; or the one of the kernel, {@code socket}. */
    List<String> transports();

    /** Who is told what happens. To be called once, before anything can happen. */
    void listener(LaneListener listener);

    // ------------------------------------------------------------------------------------------- input

    /** Whether {@link #read} has something to do; its answer may be that there is nothing yet. */
    boolean isReadable();

    /**
     * Takes the next bytes of the stream.
     *
     * @param limit      the most to take, in bytes; at least 1
     * @param allocation makes the buffer
     * @return a buffer that the caller owns, or {@code null} if there is nothing at the moment
     */
    ByteBuf read(int limit, Allocation allocation);

    /** Whether the peer's stream has ended, and been read to its end. */
    boolean isAtEnd();

    /** Whether the peer's stream has ended, as far as is known; bytes before the end may be unread. */
    boolean isInputFinished();

    /** Tells whether the application waits for bytes. */
    void wanted(boolean wanted);

    /** Nobody reads any more, though the application may go on to write: what has come and will come is thrown away. */
    void discardInput();

    /** The application has closed its channel: of this lane it wants nothing any more but that the peer sees the end. */
    default void leave() {
        discardInput();
    }

    // ------------------------------------------------------------------------------------------- output

    /**
     * Sends what has been flushed, as far as it goes, and does the promises of what is done.
     *
     * @param spins how often it may be tried to send more
     * @throws IOException if the peer has gone; or its answer is that the rest waits, and {@link #failure()} tells
     */
    Written write(ChannelOutboundBuffer in, int spins) throws Exception;

    /**
     * The thread ends the JVM, in a listener of a promise that a call of {@link #write} or {@link #complete} has done, and so that
     * call does not return. Takes care that the next one goes on behind what has been sent.
     *
     * @param in what that call was given; {@code null} if nothing more of it is to be sent
     */
    void resume(ChannelOutboundBuffer in);

    /**
     * Does the promises of what has been completed; sends nothing.
     *
     * @param in {@code null} if these promises are nobody's any more
     */
    void complete(ChannelOutboundBuffer in);

    /**
     * Ends this side's stream after everything that was written.
     *
     * @param readsNoMore whether this side does not read any more either
     */
    void finish(boolean readsNoMore);

    /** Whether the stream has neither been finished nor lost. */
    boolean isOutputOpen();

    /** Whether it has been finished, and nothing is left to wait for. */
    boolean isEndDelivered();

    /**
     * Whether a close has to wait for the peer to take what was written.
     *
     * @param drained whether everything that was flushed has been sent
     */
    boolean mustLinger(boolean drained);

    /** Whether no send is in flight. */
    boolean isIdle();

    // ------------------------------------------------------------------------------------------- memory

    /** Access to the peer's memory, and the peer's to this side's; {@code null} on lanes that have none. */
    default MemoryExchange memory() {
        return null;
    }

    // ------------------------------------------------------------------------------------------- both

    /** Neither lost nor closed. */
    boolean isOpen();

    /** Whether the peer has gone while what it sent before is still on its way: it can be read soon, and then the end is told. */
    default boolean isEnding() {
        return false;
    }

    /** Whether the peer reads what is sent to it, as far as is known. */
    boolean peerReads();

    /** Grows as long as the peer takes what is sent to it. */
    long moved();

    /**
     * Looks for a peer whose host has answered nothing for so long although it was asked, and takes the connection for
     * lost then; where nobody else does that. To be called again and again, in equal intervals that are shorter.
     *
     * @return whether there may be something to be answered: else there is nothing to look for before the next write
     */
    default boolean checkPeer(int millis) {
        return false;
    }

    /** To be called after reads and writes. */
    void settle();

    /** Why the connection was lost, or {@code null} if it was not. */
    IOException failure();

    /** How the connection has ended, or would end if it were closed now. */
    CloseReason closeReason();

    /**
     * Gives everything back, but for the control socket.
     *
     * @param reset whether the peer is to see a reset rather than an end when the control socket is closed
     */
    void close(boolean reset);
}
