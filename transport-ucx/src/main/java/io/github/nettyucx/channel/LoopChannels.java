// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The channels that are registered with one event loop, and how they end with it. What is done to one of them can register
 * others, or end them. All methods but {@link #size()} belong to the loop's thread.
 */
final class LoopChannels {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopChannels.class);

    private final Set<Channel> channels = new LinkedHashSet<>();

    void add(Channel channel) {
        channels.add(channel);
    }

    void remove(Channel channel) {
        channels.remove(channel);
    }

    /** Another thread's answer may be out of date. */
    int size() {
        return channels.size();
    }

    List<Channel> copy() {
        return List.copyOf(channels);
    }

    /** In good order: those that have something to deliver do so. */
    void closeAll() {
        new ArrayList<>(channels).forEach(LoopChannels::close);
    }

    private static void close(Channel channel) {
        channel.unsafe().close(channel.unsafe().voidPromise());
    }

    /** Whether a closed one still has something to deliver, be it only its end. */
    boolean isLingering() {
        for (Channel channel : channels) {
            if (channel instanceof UcxSocketChannel socket && socket.isLingering()) {
                return true;
            }
        }
        return false;
    }

    /** Looks whether those that linger have done so for too long. */
    void checkLingering() {
        forEachSocket(UcxSocketChannel::checkLinger);
    }

    void cutLingering() {
        forEachSocket(UcxSocketChannel::cutLinger);
    }

    private void forEachSocket(Consumer<UcxSocketChannel> action) {
        for (Channel channel : new ArrayList<>(channels)) {
            if (channel instanceof UcxSocketChannel socket) {
                action.accept(socket);
            }
        }
    }

    /** Closes them at once, whatever they still have to deliver. */
    void abandonAll() {
        new ArrayList<>(channels).forEach(LoopChannels::abandon);
    }

    private static void abandon(Channel channel) {
        try {
            if (channel instanceof AbstractUcxChannel ucx) {
                ucx.abandon();
            } else {
                close(channel);
            }
        } catch (RuntimeException e) {
            logger.warn("Failed to close {} with its event loop.", channel, e);
        }
    }

    /** Those of loops that run no task any more hear of their end from here. */
    void tellEnd() {
        for (Channel channel : new ArrayList<>(channels)) {
            if (channel instanceof AbstractUcxChannel ucx && channel.eventLoop().isShutdown()) {
                ucx.tellEnd();
            }
        }
    }

    /** Forgets closed ones that the loop took no task of any more to deregister. */
    void clear() {
        channels.clear();
    }
}
