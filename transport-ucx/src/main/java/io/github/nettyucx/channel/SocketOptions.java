// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelException;
import io.netty.channel.EventLoop;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * The kernel's options of one socket, which may be set before there is one. Any thread may set and get; only the event
 * loop's touches the socket.
 */
final class SocketOptions {

    private final AbstractUcxChannel channel;
    /** What all sockets of this kind begin with, until something is set: most of many connections have no map of their own. */
    private Map<SocketSetting, Integer> values;
    private boolean shared = true;
    private KernelSocket socket;
    /** What the transport has set on the socket for its own ends. Only for the event loop's thread. */
    private Set<SocketSetting> taken = Set.of();

    /** @param initial what is set from the beginning */
    SocketOptions(AbstractUcxChannel channel, Map<SocketSetting, Integer> initial) {
        this.channel = channel;
        values = initial;
    }

    void set(SocketSetting setting, int value) {
        KernelSocket target;
        synchronized (this) {
            if (shared) {
                Map<SocketSetting, Integer> own = new EnumMap<>(SocketSetting.class);
                own.putAll(values);
                values = own;
                shared = false;
            }
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

    private void set(KernelSocket target, SocketSetting setting, int value) {
        try {
            if (target.isOpen() && !taken.contains(setting)) {
                target.set(setting, value);
            }
        } catch (IOException e) {
            throw new ChannelException(setting + " cannot be set to " + value, e);
        }
    }

    /**
     * From now on the transport sets these, and no others, on the socket itself: what the application sets is kept, and has no
     * effect until there is another socket. Only for the event loop's thread.
     */
    void take(Set<SocketSetting> settings) {
        taken = Set.copyOf(settings);
    }

    /** What was set, or else {@code otherwise}. */
    int get(SocketSetting setting, int otherwise) {
        synchronized (this) {
            return values.getOrDefault(setting, otherwise);
        }
    }

    /** Sets on a new socket what was set before there was one. Only for the event loop's thread. */
    void applyTo(KernelSocket target) throws IOException {
        Map<SocketSetting, Integer> all;
        synchronized (this) {
            socket = target;
            all = shared ? values : new EnumMap<>(values);
        }
        taken = Set.of();
        for (Map.Entry<SocketSetting, Integer> each : all.entrySet()) {
            target.set(each.getKey(), each.getValue());
        }
    }

    /** The one that has them; {@code null} if there is none. Only for the event loop's thread. */
    KernelSocket socket() {
        synchronized (this) {
            return socket;
        }
    }

    /** The socket is about to be closed. */
    void detach() {
        synchronized (this) {
            socket = null;
        }
    }
}
