// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.ClientHandshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.Announcement;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;

/** A connect: the kernel's, and then the handshake, or none with an ordinary server. */
final class ClientOpening extends Opening {

    private final InetSocketAddress remote;
    private final ChannelPromise promise;
    private boolean connecting;

    /** @param socket that is bound already if the channel is */
    ClientOpening(UcxSocketChannel channel, LoopLanes loop, InetSocketAddress remote, KernelSocket socket,
                  ChannelPromise promise) {
        super(channel, loop);
        this.remote = remote;
        this.promise = promise;
        this.socket = socket;
    }

    /** The address, if a connection can be made to or from it. */
    static InetSocketAddress checked(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new IllegalArgumentException("address " + address + " is a "
                    + StringUtil.simpleClassName(address) + "; expected an InetSocketAddress");
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    /** @throws IOException if the connect has failed at once */
    void start() throws IOException {
        connecting = !socket.connect(remote);
        watch();
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            boundBy(millis, () -> timedOut(millis));
        }
        promise.addListener(done -> {
            if (done.isCancelled() && !isOver()) {
                channel.unsafe().close(channel.voidPromise());
            }
        });
        if (!connecting) {
            // Not from here: the caller does not know of this attempt yet.
            loop.engine().schedule(() -> socketReady(Epoll.OUT));
            connecting = true;
        }
    }

    private void timedOut(int millis) {
        fail(new ConnectTimeoutException("connection timed out after " + millis + " ms: " + remote),
                HandshakeFailure.TIMED_OUT);
    }

    @Override
    InetSocketAddress remote() {
        return remote;
    }

    /** {@inheritDoc} It may have been cancelled while it was connecting. */
    @Override
    boolean succeed() {
        return promise.trySuccess();
    }

    @Override
    void told(IOException cause) {
        promise.tryFailure(naming(cause));
        if (cause instanceof ConnectTimeoutException) {
            channel.unsafe().close(channel.voidPromise());
        }
    }

    /** The cause, saying to whom the connection was to be made. */
    private Throwable naming(IOException cause) {
        if (cause instanceof HandshakeException failed) {
            return new HandshakeException(failed.reason(), cause.getMessage() + ": " + remote, cause);
        }
        return cause instanceof ConnectTimeoutException ? cause : channel.annotated(cause, remote);
    }

    @Override
    void cancelled(ClosedChannelException cause) {
        promise.tryFailure(cause);
    }

    @Override
    void ready(int events) throws IOException {
        if (connecting) {
            if ((events & (Epoll.OUT | Epoll.ERR | Epoll.HUP)) == 0) {
                return;
            }
            try {
                if (!socket.finishConnect()) {
                    return;
                }
            } catch (IOException e) {
                fail(e, e instanceof NoRouteToHostException ? HandshakeFailure.UNREACHABLE
                        : e instanceof ConnectException ? HandshakeFailure.REFUSED : HandshakeFailure.CONNECT_FAILED);
                return;
            }
            connecting = false;
            connected();
        } else {
            flush();
        }
        if (!isOver()) {
            receive();
        }
    }

    private void connected() throws IOException {
        channel.local = socket.localAddress();
        channel.remote = socket.remoteAddress();
        UcxConnectMode mode = channel.config().connectMode();
        if (mode == UcxConnectMode.PLAIN || mode == UcxConnectMode.ANNOUNCED && !isAnnounced()) {
            openPlain();
            return;
        }
        ClientHandshake started = new ClientHandshake(terms(), loop.links(), this, KernelRandom::fill);
        handshake = started;
        started.start();
    }

    /** Only a process of this host can have announced itself; a port of another host's may be anybody's here. */
    private boolean isAnnounced() {
        boolean local = remote.getAddress().isLoopbackAddress()
                || channel.local.getAddress().equals(channel.remote.getAddress());
        return local && Announcement.isThere(channel.remote);
    }

    @Override
    void received() {
        if (handshake != null) {
            handshake.received(in);
        }
    }

    @Override
    void ended() {
        fail(new ConnectException("Connection closed by the peer during the handshake"),
                HandshakeFailure.CLOSED_BY_PEER);
    }

    @Override
    Lane lane(Outcome outcome) {
        if (outcome.lane() == LaneKind.SOCKET) {
            return loop.socketLane(socket, channel.traffic(), takeRest());
        }
        return loop.linkLane(outcome.lane(), outcome.link(), outcome.peer(), socket, limits,
                length -> channel.alloc().directBuffer(length), channel.traffic());
    }
}
