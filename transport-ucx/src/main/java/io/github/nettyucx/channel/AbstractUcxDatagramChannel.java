// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DatagramChannel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/** Multicast, with all the shapes that Netty gives its methods. */
abstract class AbstractUcxDatagramChannel extends AbstractUcxChannel implements DatagramChannel {

    AbstractUcxDatagramChannel() {
        super(null);
    }

    /** What is done to the membership in a group. An index of 0 leaves the interface to the system. */
    @FunctionalInterface
    interface Membership {
        void change(KernelSocket socket, int interfaceIndex) throws IOException;
    }

    /**
     * Only on the loop's thread.
     *
     * @param device {@code null} for that of the address that the channel is bound to, or else the system's choice
     */
    abstract void change(InetAddress group, NetworkInterface device, ChannelPromise promise, Membership membership);

    private ChannelFuture changeOnLoop(InetAddress group, NetworkInterface device, ChannelPromise promise,
                                       Membership membership) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            change(group, device, promise, membership);
            return promise;
        }
        try {
            loop.execute(() -> change(group, device, promise, membership));
        } catch (RejectedExecutionException e) {
            promise.tryFailure(e);
        }
        return promise;
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group) {
        return joinGroup(group, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, ChannelPromise promise) {
        return changeOnLoop(group, null, promise, (socket, device) -> socket.groups().join(group, null, device));
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface device) {
        return joinGroup(group, device, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface device, ChannelPromise promise) {
        return joinGroup(group.getAddress(), device, null, promise);
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, NetworkInterface device, InetAddress source) {
        return joinGroup(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, NetworkInterface device, InetAddress source,
                                   ChannelPromise promise) {
        Objects.requireNonNull(device, "networkInterface");
        return changeOnLoop(group, device, promise, (socket, index) -> socket.groups().join(group, source, index));
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group) {
        return leaveGroup(group, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, ChannelPromise promise) {
        return changeOnLoop(group, null, promise, (socket, device) -> socket.groups().leave(group, null, device));
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface device) {
        return leaveGroup(group, device, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface device, ChannelPromise promise) {
        return leaveGroup(group.getAddress(), device, null, promise);
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, NetworkInterface device, InetAddress source) {
        return leaveGroup(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, NetworkInterface device, InetAddress source,
                                    ChannelPromise promise) {
        Objects.requireNonNull(device, "networkInterface");
        return changeOnLoop(group, device, promise, (socket, index) -> socket.groups().leave(group, source, index));
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface device, InetAddress source) {
        return block(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface device, InetAddress source,
                               ChannelPromise promise) {
        Objects.requireNonNull(device, "networkInterface");
        Objects.requireNonNull(source, "sourceToBlock");
        return changeOnLoop(group, device, promise, (socket, index) -> socket.groups().block(group, source, index));
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source) {
        return block(group, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source, ChannelPromise promise) {
        Objects.requireNonNull(source, "sourceToBlock");
        return changeOnLoop(group, null, promise, (socket, device) -> socket.groups().block(group, source, device));
    }
}
