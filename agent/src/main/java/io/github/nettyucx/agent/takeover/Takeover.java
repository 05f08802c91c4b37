// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.github.nettyucx.agent.hook.Hooks;
import io.github.nettyucx.agent.weave.NettyCopy;
import io.github.nettyucx.channel.ConnectionObserver;
import io.github.nettyucx.channel.IoDriver;
import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** Answers what one copy of Netty asks. Made with its first group of loops, or its first channel. */
public final class Takeover extends Hooks {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.github.nettyucx.agent");
    /** So much is told once each, and nothing beyond: classes can be made without an end, and each has a name. */
    private static final int MOST_TOLD = 1000;

    private final NettyCopy copy;
    private final Loops loops;
    private final Channels channels;
    /** Why nothing at all is taken over; {@code null} if something is. */
    private final String reason;
    /** What has been said to be left as it was: once each. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final Set<Object> leftGroups = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** Of bootstraps, and left as they were. */
    private final Map<Object, Left> ofBootstraps = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * What is to be told if a channel gets the loop beside. It keeps none of the channel's loops, which keep the channel.
     *
     * @param namesOneLoop whether one loop of the transport's was named for it
     * @param ownGroup     the class of the group of those that it accepts, if that is the application's; or {@code null}
     */
    private record Left(boolean namesOneLoop, String ownGroup) {
    }

    /** Called by its name, by the agent. */
    public Takeover(NettyCopy copy) {
        this.copy = copy;
        loops = new Loops(copy.rootPackage());
        channels = new Channels(copy.rootPackage());
        String wrongSetting = null;
        String left = reasonToLeave();
        if (left == null) {
            wrongSetting = wrongSetting();
            left = wrongSetting;
        }
        reason = left;
        if (wrongSetting != null) {
            // It may have been meant to keep somebody out.
            logger.warn("{} stays as it was, and takes connections from everybody as without the agent: {}", copy.rootPackage(),
                    reason);
        } else if (reason != null) {
            logger.info("{} stays as it was: {}", copy.rootPackage(), reason);
        } else if (copy.report() != null) {
            ConnectionObserver.install(new Reporting(copy.report(), copy.rootPackage()));
        }
    }

    private String reasonToLeave() {
        if (!copy.registersByHook()) {
            return "its classes had been loaded before the agent saw them";
        }
        String tooOld = NettyRelease.reasonToLeave(copy, loops.hasIoHandlers());
        if (tooOld != null) {
            return tooOld;
        }
        try {
            Ucx.ensureUsable();
        } catch (UnsatisfiedLinkError e) {
            return e.getCause().getMessage();
        }
        // Asked once: the next answer can be another one.
        Throwable cause = Ucx.unavailabilityCause();
        return cause == null ? null : "there is no UCX: " + inOneLine(cause);
    }

    /** The settings are looked at with the first loop and the first channel; better now, and told by their names. */
    private static String wrongSetting() {
        try {
            UcxWaitStrategy.byDefault();
            IoDriver.checkSettings();
            new UcxSocketChannel().unsafe().closeForcibly();
            return null;
        } catch (Throwable t) {
            Throwable cause = t;
            while (cause instanceof ExceptionInInitializerError && cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.getMessage() == null ? cause.toString() : cause.getMessage();
        }
    }

    /** With all places that were looked at, but for what there is to be done about it. */
    private static String inOneLine(Throwable t) {
        String message = String.valueOf(t.getMessage());
        int end = message.indexOf("\nTo mend it");
        return (end < 0 ? message : message.substring(0, end)).replaceFirst("\n *", " ").replaceAll("\n *", "; ");
    }

    @Override
    protected EventLoop loop(EventLoopGroup group, Executor executor, Object[] arguments) {
        if (reason != null) {
            return null;
        }
        try {
            return loops.loop(group, executor, arguments);
        } catch (LeftAsItWas e) {
            // It asks for each of its loops.
            if (leftGroups.add(group)) {
                left(e.getMessage());
            }
        } catch (Throwable t) {
            if (leftGroups.add(group)) {
                failed("a group of the class " + group.getClass().getName(), t);
            }
        }
        return null;
    }

    @Override
    protected Channel channel(Channel made, Object factory, AbstractBootstrap<?, ?> bootstrap) {
        return channel(made, factory, () -> ChannelOrder.of(bootstrap));
    }

    @Override
    protected Channel channel(Channel made, Object factory, Object settings, EventLoop loop) {
        return channel(made, factory, () -> ChannelOrder.ofReactor(settings, loop));
    }

    @FunctionalInterface
    private interface Order {
        ChannelOrder get() throws LeftAsItWas;
    }

    private Channel channel(Channel made, Object factory, Order source) {
        if (reason != null || made == null) {
            return made;
        }
        ChannelOrder order = null;
        try {
            order = source.get();
            Channel replacement = channels.replacement(made, factory, order);
            if (replacement != null) {
                if (replacement != made) {
                    made.unsafe().closeForcibly();
                }
                return replacement;
            }
        } catch (LeftAsItWas e) {
            left(e.getMessage());
        } catch (Throwable t) {
            failed("a channel of the class " + made.getClass().getName(), t);
        }
        // Why has been told, of it or of its group.
        ofBootstraps.put(made, order == null ? new Left(false, null)
                : new Left(order.namesOneLoop(), ownGroup(order.children())));
        return made;
    }

    private String ownGroup(EventLoopGroup children) {
        if (children == null || children instanceof Beside) {
            return null;
        }
        String group = children.getClass().getName();
        return group.startsWith(copy.rootPackage() + '.') ? null : group;
    }

    /** Children of a server are as their server is. */
    @Override
    protected void beside(Object registered) {
        // It stays known: it may be registered again, with another loop.
        Left left = ofBootstraps.get(registered);
        if (left != null && left.namesOneLoop) {
            warnOfOtherThread(registered.getClass().getName());
        }
        if (left != null && left.ownGroup != null) {
            warnOfOtherLoops(registered.getClass().getName(), left.ownGroup);
        }
        if (left != null || registered instanceof Channel channel && channel.parent() != null) {
            return;
        }
        left((registered instanceof Channel ? "channels of the class " : "handles of the class ")
                + registered.getClass().getName() + " that are registered without a bootstrap");
    }

    private void left(String what) {
        if (copy.report() != null) {
            copy.report().left(what);
        }
        if (isNew(what)) {
            logger.info("The agent leaves as they were (said once): {}", what);
        }
    }

    private boolean isNew(String what) {
        return told.size() < MOST_TOLD && told.add(what);
    }

    /**
     * Who has a group of its own may know its loops one by one, and look up by a connection's loop what is to serve it. There it
     * does not find the one beside.
     */
    private void warnOfOtherLoops(String server, String group) {
        if (isNew(group)) {
            logger.warn("Connections of {} are on other loops than those of the group {} (said once). An application that looks"
                    + " them up by channel.eventLoop() needs -Dio.github.nettyucx.agent=off.", server, group);
        }
    }

    /** Who puts two channels on one loop, as proxies do, may have them share what is not safe for two threads. */
    private void warnOfOtherThread(String channel) {
        if (isNew("thread of " + channel)) {
            logger.warn("{} is on another thread than the channels of the event loop that its bootstrap names (said once). An"
                    + " application that counts on one thread for both needs -Dio.github.nettyucx.agent=off.", channel);
        }
    }

    private void failed(String what, Throwable t) {
        left(what + ", because of " + t);
        logger.debug("The agent has failed to take over {}.", what, t);
    }
}
