// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelException;
import io.netty.channel.EventLoop;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/**
 * The kernel's options of one socket, which may be set before there is one. Any thread may set and get; only the event
 * loop's touches the socket.
 */
final class SocketOptions {

    private final AbstractUcxChannel channel;
    private final Map<SocketSetting, Integer> values = new EnumMap<>(SocketSetting.class);
    private KernelSocket socket;

    SocketOptions(AbstractUcxChannel channel) {
        this.channel = channel;
    }

    void set(SocketSetting setting, int value) {
        KernelSocket target;
        synchronized (values) {
            values.put(setting, value);
            target = socket;
        }
        if (target != null) {
            EventLoop loop = channel.eventLoop();
            if (loop.inEventLoop()) {
                set(target, setting, value);
            } else {
                loop.execute(() -> set(target, setting, value));
            }
        }
    }

    void set(SocketSetting setting, boolean value) {
        set(setting, value ? 1 : 0);
    }

    private static void set(KernelSocket target, SocketSetting setting, int value) {
        try {
            if (target.isOpen()) {
                target.set(setting, value);
            }
        } catch (IOException e) {
            throw new ChannelException(setting + " cannot be set to " + value, e);
        }
    }

    /** What was set, or else {@code otherwise}. */
    int get(SocketSetting setting, int otherwise) {
        synchronized (values) {
            return values.getOrDefault(setting, otherwise);
        }
    }

    boolean isSet(SocketSetting setting) {
        synchronized (values) {
            return values.containsKey(setting);
        }
    }

    /** Sets on a new socket what was set before there was one. Only for the event loop's thread. */
    void applyTo(KernelSocket target) throws IOException {
        Map<SocketSetting, Integer> all;
        synchronized (values) {
            socket = target;
            all = new EnumMap<>(values);
        }
        for (Map.Entry<SocketSetting, Integer> each : all.entrySet()) {
            target.set(each.getKey(), each.getValue());
        }
    }

    /** The one that has them; {@code null} if there is none. Only for the event loop's thread. */
    KernelSocket socket() {
        synchronized (values) {
            return socket;
        }
    }

    /** The socket is about to be closed. */
    void detach() {
        synchronized (values) {
            socket = null;
        }
    }
}
