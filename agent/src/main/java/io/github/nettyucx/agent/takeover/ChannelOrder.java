// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;

/**
 * Which loops a channel that is being made goes to, and what it is going to be given.
 *
 * @param group        of the channel; a loop is a group as well
 * @param children     the group of the channels that it accepts; {@code null} if it accepts none
 * @param handler      may be {@code null}
 * @param childHandler may be {@code null}
 * @param childOptions of the channels that it accepts
 * @param namesOneLoop and not a group: such as that of another channel, whose thread the application counts on then
 */
record ChannelOrder(EventLoopGroup group, EventLoopGroup children, ChannelHandler handler, ChannelHandler childHandler,
                    Map<ChannelOption<?>, Object> options, Map<ChannelOption<?>, Object> childOptions,
                    boolean namesOneLoop) {

    private static final String REACTOR_SERVER = "reactor.netty.transport.ServerTransportConfig";

    static ChannelOrder of(AbstractBootstrap<?, ?> bootstrap) {
        EventLoopGroup group = bootstrap.config().group();
        if (bootstrap instanceof ServerBootstrap server) {
            EventLoopGroup children = server.config().childGroup();
            return new ChannelOrder(group, children, server.config().handler(), server.config().childHandler(),
                    server.config().options(), server.config().childOptions(),
                    group instanceof Beside || children instanceof Beside);
        }
        return new ChannelOrder(group, null, bootstrap.config().handler(), null, bootstrap.config().options(), Map.of(),
                group instanceof Beside);
    }

    /**
     * @param settings Reactor Netty's {@code TransportConfig}. Its handlers take any channel
     * @throws LeftAsItWas if it is another than those that are known
     */
    static ChannelOrder ofReactor(Object settings, EventLoop loop) throws LeftAsItWas {
        try {
            Class<?> server = settings.getClass();
            while (server != null && !server.getName().endsWith(REACTOR_SERVER)) {
                server = server.getSuperclass();
            }
            return server == null ? new ChannelOrder(loop, null, null, null, options(settings, "options"), Map.of(), false)
                    : new ChannelOrder(loop, (EventLoopGroup) asked(server, "childEventLoopGroup", settings), null, null,
                            options(settings, "options"), options(settings, "childOptions"), false);
        } catch (InvocationTargetException e) {
            throw unknown(settings, e.getCause());
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw unknown(settings, e);
        }
    }

    private static LeftAsItWas unknown(Object settings, Throwable cause) {
        return new LeftAsItWas("channels of " + settings.getClass().getName() + ", because of " + cause);
    }

    @SuppressWarnings("unchecked")
    private static Map<ChannelOption<?>, Object> options(Object settings, String name) throws ReflectiveOperationException {
        return (Map<ChannelOption<?>, Object>) settings.getClass().getMethod(name).invoke(settings);
    }

    private static Object asked(Class<?> type, String name, Object settings) throws ReflectiveOperationException {
        Method method = type.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(settings);
    }

    boolean isForServer() {
        return children != null;
    }

    /**
     * Whether the channel, and those that it accepts, go to loops of the transport's. A group may have none yet: those that Vert.x
     * gives its own one later are of the same kind as the one that accepts.
     */
    boolean isOfTakenLoops() {
        return Loops.areTaken(group)
                && (!isForServer() || Loops.areTaken(children) || !children.iterator().hasNext());
    }
}
