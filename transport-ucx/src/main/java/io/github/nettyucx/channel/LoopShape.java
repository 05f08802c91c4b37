// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;

import java.util.Objects;

/**
 * A kind of event loop, other than {@link UcxEventLoop}, that drives an {@link IoDriver}. Channels do not know such
 * loops; they ask the shapes that have been installed.
 * <p>
 * For implementations of event loops; applications have no use for it.
 */
public interface LoopShape {

    /** Whether a loop is of this kind, and takes the channels of this transport. Any thread may call. */
    boolean isCompatible(EventLoop loop);

    /**
     * Registers a channel with a loop of this kind. Only the loop's thread calls.
     *
     * @throws Exception if the loop does not take the channel, which then is closed
     */
    LoopRegistration register(EventLoop loop, Channel channel) throws Exception;

    /**
     * Makes a kind of loop known, for as long as the JVM runs. Has to be done before channels are registered with such
     * a loop; any thread may call.
     */
    static void install(LoopShape shape) {
        KnownLoops.install(Objects.requireNonNull(shape, "shape"));
    }
}
