// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.github.nettyucx.agent.weave.NettyCopy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.ThreadPerTaskExecutor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.spi.SelectorProvider;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.Executor;

/** Loops in the place of those that Netty's groups would make, from the same arguments. */
final class Loops {

    /** Netty's groups whose method is woven, below the root of their package. */
    private static final Set<String> GROUPS = Set.of(".channel.nio.NioEventLoopGroup", ".channel.epoll.EpollEventLoopGroup",
            ".incubator.channel.uring.IOUringEventLoopGroup", ".channel.MultiThreadIoEventLoopGroup");

    /**
     * The packages of groups whose applications are known to move connected channels from loop to loop, which a channel of the
     * transport refuses: Apache Ignite 3 does, with the connections between its nodes.
     */
    private static final Set<String> MOVING = Set.of("org.apache.ignite.internal.network.netty");

    private static final String NEW_CHILD = "newChild";
    /** What a group's own method is called since the agent has taken it over. */
    private static final String ORIGINAL = NEW_CHILD + NettyCopy.ORIGINAL;

    private final String root;
    private final boolean hasIoHandlers;
    /** Made with the first group of Netty 4.2's. */
    private IoLoops ioLoops;

    /** @param root the package that is {@code io.netty} in this copy */
    Loops(String root) {
        this.root = root;
        hasIoHandlers = hasIoHandlers(root);
    }

    /** Whether this is Netty 4.2. */
    boolean hasIoHandlers() {
        return hasIoHandlers;
    }

    /** @throws LeftAsItWas if the group is to have its own */
    EventLoop loop(EventLoopGroup group, Executor executor, Object[] arguments) throws LeftAsItWas {
        requireNettysOwn(group.getClass());
        if (MOVING.contains(group.getClass().getPackageName())) {
            throw new LeftAsItWas("a group of the class " + group.getClass().getName()
                    + ", whose application moves connected channels to other loops");
        }
        if (executor instanceof ThreadPerTaskExecutor) {
            return loop(group, new PlatformThreads(executor), arguments, taken -> original(group, executor, arguments));
        }
        PairThreads threads = new PairThreads(executor);
        return loop(group, threads, arguments, taken -> original(group, threads.beside(taken), arguments));
    }

    private EventLoop loop(EventLoopGroup group, Executor executor, Object[] arguments, LoopBeside.Maker maker)
            throws LeftAsItWas {
        LoopSettings settings = LoopSettings.of(arguments);
        if (hasIoHandlers && IoLoops.areOf(arguments)) {
            return ioLoops().loop(group, executor, arguments, settings, maker);
        }
        for (Object argument : arguments) {
            if (argument instanceof SelectorProvider provider) {
                requireUsualProvider(provider);
            }
        }
        return new TakenEventLoop(group, executor, settings, maker);
    }

    /** Netty 4.1 has no such class, and looking for it goes over the whole class path. */
    private static boolean hasIoHandlers(String root) {
        try {
            Class.forName(root + ".channel.IoHandlerFactory", false, Loops.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private synchronized IoLoops ioLoops() {
        if (ioLoops == null) {
            ioLoops = new IoLoops(root);
        }
        return ioLoops;
    }

    /** A group that makes its loops itself may take them for what they were, in whatever package it is. */
    private void requireNettysOwn(Class<?> type) throws LeftAsItWas {
        for (Class<?> each = type; !isNettysOwn(each); each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(NEW_CHILD)) {
                    throw new LeftAsItWas("a group of the class " + type.getName() + ", which makes its own loops");
                }
            }
        }
    }

    private boolean isNettysOwn(Class<?> group) {
        String name = group.getName();
        return name.startsWith(root) && GROUPS.contains(name.substring(root.length()));
    }

    /** The JDK's own: another one may have been set for the whole JVM. */
    static void requireUsualProvider(SelectorProvider provider) throws LeftAsItWas {
        if (provider != SelectorProvider.provider() || provider.getClass().getModule() != Object.class.getModule()) {
            throw new LeftAsItWas("a group whose selectors are of " + provider.getClass().getName());
        }
    }

    /** What the group would have made. */
    private static EventLoop original(EventLoopGroup group, Executor executor, Object[] arguments) throws Exception {
        Method method = null;
        for (Class<?> each = group.getClass(); method == null; each = each.getSuperclass()) {
            method = declared(each);
        }
        method.setAccessible(true);
        try {
            return (EventLoop) method.invoke(group, executor, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static Method declared(Class<?> type) {
        for (Method each : type.getDeclaredMethods()) {
            if (each.getName().equals(ORIGINAL)) {
                return each;
            }
        }
        return null;
    }

    /** Whether all of a group's loops are the transport's. A loop is a group as well. */
    static boolean areTaken(EventLoopGroup group) {
        if (group instanceof Beside) {
            return true;
        }
        if (group == null) {
            return false;
        }
        Iterator<?> loops = group.iterator();
        boolean any = false;
        while (loops.hasNext()) {
            Object loop = loops.next();
            // A single loop of another kind has itself.
            if (!(loop instanceof Beside)) {
                return false;
            }
            any = true;
        }
        return any;
    }
}
