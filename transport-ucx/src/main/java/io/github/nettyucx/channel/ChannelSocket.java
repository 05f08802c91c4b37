// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Farewell;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * The kernel's socket of one channel, with the options of its configuration. There is none before the channel is bound or
 * connects, and none after it has been closed or has failed to connect. Only for the event loop's thread.
 */
final class ChannelSocket {

    private final SocketOptions options;
    /** {@code null} if there is none. */
    private KernelSocket socket;
    /** What the application has bound it to; {@code null} if it has not. */
    private InetSocketAddress bound;

    /** @param accepted by a server, or {@code null} */
    ChannelSocket(SocketOptions options, KernelSocket accepted) {
        this.options = options;
        socket = accepted;
    }

    /** The one that a server has accepted, with the options. */
    KernelSocket configured() throws IOException {
        options.applyTo(socket);
        return socket;
    }

    /** The one that is there, or a new one that reaches this address. */
    KernelSocket openFor(InetAddress address) throws IOException {
        if (socket == null) {
            KernelSocket fresh = KernelSocket.stream(KernelSocket.needsIpv6(address));
            try {
                options.applyTo(fresh);
            } catch (Throwable t) {
                fresh.close();
                throw t;
            }
            socket = fresh;
        }
        return socket;
    }

    /** @return the address that it has then */
    InetSocketAddress bind(InetSocketAddress wanted) throws IOException {
        if (bound != null) {
            throw new AlreadyBoundException();
        }
        openFor(wanted.getAddress());
        try {
            socket.bind(wanted);
            bound = socket.localAddress();
            return bound;
        } catch (Throwable t) {
            close(null, false);
            throw t;
        }
    }

    /** Takes another one in the place of the one that there is, bound to the same address if that is bound. */
    void replace(LoopLanes loop) throws IOException {
        InetSocketAddress again = bound;
        // The address is free at once only after a reset.
        close(loop, again != null);
        if (again != null) {
            bind(again);
        }
    }

    /** Leaves the socket to its {@link Farewell}. */
    void bidFarewell(LoopLanes loop, Queue<ByteBuf> lastWords, EventLoop eventLoop) {
        options.detach();
        Farewell farewell = loop.farewell(socket, lastWords);
        socket = null;
        bound = null;
        if (!farewell.isOver()) {
            farewell.endedBy(eventLoop.schedule(farewell::end, Farewell.MILLIS, TimeUnit.MILLISECONDS));
        }
    }

    /**
     * Does nothing if there is none.
     *
     * @param loop that may be watching it, or {@code null}
     * @param reset the peer is to see a reset
     */
    void close(LoopLanes loop, boolean reset) {
        KernelSocket closed = socket;
        socket = null;
        bound = null;
        if (closed == null) {
            return;
        }
        options.detach();
        if (loop != null) {
            loop.engine().unwatch(closed);
        }
        if (reset) {
            try {
                closed.resetOnClose();
            } catch (IOException e) {
                // There is no connection any more.
            }
        }
        closed.close();
    }
}
