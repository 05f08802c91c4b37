// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.ProtocolException;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.StringUtil;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeUnit;

/** A connect, or the accept of one, until its handshake is over: who waits for it, and for how long. */
final class ConnectAttempt {

    private final UcxSocketChannel channel;
    private final InetSocketAddress remote;
    /** {@code null} on the accepting side: nobody waits there. */
    private final ChannelPromise promise;
    private Future<?> timeout;

    private ConnectAttempt(UcxSocketChannel channel, InetSocketAddress remote, ChannelPromise promise) {
        this.channel = channel;
        this.remote = remote;
        this.promise = promise;
    }

    /** The accepting side's, which is given up when its handshake takes too long. */
    static ConnectAttempt accepting(UcxSocketChannel channel, InetSocketAddress remote) {
        ConnectAttempt attempt = new ConnectAttempt(channel, remote, null);
        int millis = channel.config().getHandshakeTimeoutMillis();
        attempt.boundBy(millis, () -> channel.connectFailed(
                new ConnectTimeoutException("no HELLO from " + remote + " within " + millis + " ms")));
        return attempt;
    }

    /** The connecting side's, which is given up when the connection is not open in time or the promise is cancelled. */
    static ConnectAttempt connecting(UcxSocketChannel channel, InetSocketAddress remote, ChannelPromise promise) {
        ConnectAttempt attempt = new ConnectAttempt(channel, remote, promise);
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            attempt.boundBy(millis, () -> attempt.timedOut(millis));
        }
        promise.addListener(done -> {
            if (done.isCancelled()) {
                attempt.closeChannel();
            }
        });
        return attempt;
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

    private void boundBy(int millis, Runnable action) {
        timeout = channel.eventLoop().schedule(action, millis, TimeUnit.MILLISECONDS);
    }

    private void timedOut(int millis) {
        if (promise.tryFailure(
                new ConnectTimeoutException("connection timed out after " + millis + " ms: " + remote))) {
            closeChannel();
        }
    }

    private void closeChannel() {
        stopTimeout();
        channel.unsafe().close(channel.voidPromise());
    }

    private void stopTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }

    InetSocketAddress remote() {
        return remote;
    }

    /** @return whether the connection is still wanted: a connect can be cancelled until it has succeeded */
    boolean succeed() {
        stopTimeout();
        return promise == null || promise.trySuccess();
    }

    /** Why it has failed, if its promise tells that already, or else {@code cause}. */
    Throwable causeOr(Throwable cause) {
        return promise == null || promise.cause() == null ? cause : promise.cause();
    }

    /** @return whether there is somebody who can be told of it */
    boolean fail(Throwable cause) {
        stopTimeout();
        if (promise == null) {
            return false;
        }
        promise.tryFailure(cause);
        return true;
    }

    /** The cause, saying to whom the connection was to be made, unless Netty's own way of saying it knows the class. */
    Throwable naming(Throwable cause) {
        if (cause instanceof ProtocolException) {
            ProtocolException named = new ProtocolException(cause.getMessage() + ": " + remote);
            named.initCause(cause);
            return named;
        }
        return cause;
    }
}
