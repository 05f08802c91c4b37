// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.hook;

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * What Netty's classes ask the agent. Whatever goes wrong behind it, they get what they would have had without the agent.
 */
public abstract class Hooks {

    /** Makes the one that answers; set before any of Netty's classes can ask, once. */
    public static final AtomicReference<Supplier<Object>> SOURCE = new AtomicReference<>();

    /** Of a thread that asks a loop whether it takes what is to be registered with it. */
    private static final ThreadLocal<Boolean> REGISTERING = new ThreadLocal<>();

    /** Made by the first who asks for more than whether a loop is one of ours. */
    private static final class Answering {

        /** {@code null} if there is none. */
        private static final Hooks HOOKS = make();

        private static Hooks make() {
            try {
                return (Hooks) SOURCE.get().get();
            } catch (Throwable t) {
                System.err.println("INFO netty-ucx-agent: " + EventLoop.class.getPackageName()
                        + " stays as it was: the transport cannot be loaded: " + t);
                return null;
            }
        }
    }

    /** For the one that answers. */
    protected Hooks() {
    }

    // ------------------------------------------------------------------------------------------- what Netty calls

    /** A loop for a group, or {@code null} if it is to have its own. */
    public static EventLoop newLoop(EventLoopGroup group, Executor executor, Object[] arguments) {
        Hooks hooks = Answering.HOOKS;
        return hooks == null ? null : hooks.loop(group, executor, arguments);
    }

    /**
     * A channel for a bootstrap.
     *
     * @param factory the bootstrap's
     */
    @SuppressWarnings("deprecation")
    public static Channel newChannel(Object factory, AbstractBootstrap<?, ?> bootstrap) {
        // The one that applications are to use extends it.
        Channel made = ((io.netty.bootstrap.ChannelFactory<?>) factory).newChannel();
        Hooks hooks = Answering.HOOKS;
        return hooks == null ? made : hooks.channel(made, factory, bootstrap);
    }

    /**
     * A channel for Reactor Netty, which has no bootstrap.
     *
     * @param settings its {@code TransportConfig}
     * @param loop     that the channel is going to be registered with
     */
    @SuppressWarnings("deprecation")
    public static Channel newChannel(Object factory, Object settings, EventLoop loop) {
        Channel made = ((io.netty.bootstrap.ChannelFactory<?>) factory).newChannel();
        Hooks hooks = Answering.HOOKS;
        return hooks == null ? made : hooks.channel(made, factory, settings, loop);
    }

    /**
     * What loops are asked next is for a registration: they tell what they take themselves, until {@link #loopFor} is called.
     * Applications they tell what one of Netty's would.
     */
    public static void registering() {
        REGISTERING.set(Boolean.TRUE);
    }

    /** Whether this thread asks for a registration. */
    public static boolean isRegistering() {
        return REGISTERING.get() != null;
    }

    /**
     * The loop that a channel is registered with which is to be registered with this one. As with Netty's own loops, nothing is
     * thrown if there is none: the channel is closed, and its promise fails.
     *
     * @param promise of the registration
     * @return {@code null} if there is none
     */
    public static EventLoop loopFor(EventLoop loop, boolean compatible, Channel channel, ChannelPromise promise) {
        REGISTERING.remove();
        // One that is registered already Netty refuses, and leaves alone.
        if (compatible || !(loop instanceof Beside taken) || channel.isRegistered()) {
            return loop;
        }
        try {
            return loopBeside(taken, channel);
        } catch (Throwable t) {
            channel.unsafe().closeForcibly();
            // It has no socket any more that a close would linger for. This is for who waits for the channel's end.
            channel.unsafe().close(channel.voidPromise());
            promise.tryFailure(t);
            return null;
        }
    }

    /**
     * The same for a handle without a channel.
     *
     * @return this loop itself if there is none: it does not take the handle, and tells so as Netty's do
     */
    public static EventLoop loopFor(EventLoop loop, boolean compatible, Object handle) {
        REGISTERING.remove();
        if (compatible || !(loop instanceof Beside taken)) {
            return loop;
        }
        try {
            return loopBeside(taken, handle);
        } catch (Throwable t) {
            return loop;
        }
    }

    private static EventLoop loopBeside(Beside taken, Object registered) {
        Hooks hooks = Answering.HOOKS;
        if (hooks != null) {
            hooks.beside(registered);
        }
        return taken.loopBeside();
    }

    /** Whether a group has any loop of the transport's in the place of its own. */
    public static boolean isTaken(Iterable<?> group) {
        for (Object loop : group) {
            if (loop instanceof Beside) {
                return true;
            }
        }
        return false;
    }

    // ------------------------------------------------------------------------------------------- who answers

    /** See {@link #newLoop}; throws nothing. */
    protected abstract EventLoop loop(EventLoopGroup group, Executor executor, Object[] arguments);

    /**
     * The same channel, or another in its place; throws nothing.
     *
     * @param factory that has made it
     */
    protected abstract Channel channel(Channel made, Object factory, AbstractBootstrap<?, ?> bootstrap);

    /** The same for Reactor Netty, with its settings and the channel's loop. */
    protected abstract Channel channel(Channel made, Object factory, Object settings, EventLoop loop);

    /** A channel, or a handle without one, is not for the transport's loop; throws nothing. */
    protected abstract void beside(Object registered);
}
