// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;

import java.lang.reflect.Field;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.concurrent.Executor;

/** Loops for the groups of Netty 4.2. Nobody must touch it on Netty 4.1, which has not the classes that it needs. */
final class IoLoops {

    private static final Set<String> HANDLERS =
            Set.of(".channel.nio.NioIoHandler", ".channel.epoll.EpollIoHandler", ".channel.uring.IoUringIoHandler");

    private final String root;

    IoLoops(String root) {
        this.root = root;
    }

    static boolean areOf(Object[] arguments) {
        return arguments.length > 0 && arguments[0] instanceof IoHandlerFactory;
    }

    /**
     * @param arguments the first of which is a factory of handlers
     * @throws LeftAsItWas if the handlers are of a kind that is not replaced
     */
    EventLoop loop(EventLoopGroup group, Executor executor, Object[] arguments, LoopSettings settings,
                   LoopBeside.Maker maker) throws LeftAsItWas {
        Object factory = arguments[0];
        Class<?> handler = handlerOf(factory.getClass());
        for (Field field : factory.getClass().getDeclaredFields()) {
            if (field.getType() == SelectorProvider.class) {
                Loops.requireUsualProvider(value(field, factory));
            }
        }
        return new TakenIoEventLoop((IoEventLoopGroup) group, executor, settings, handler, maker);
    }

    /** The factories are nested in the handlers' classes. */
    private Class<?> handlerOf(Class<?> factory) throws LeftAsItWas {
        String name = factory.getName();
        int end = name.indexOf('$');
        if (end > 0 && name.startsWith(root) && HANDLERS.contains(name.substring(root.length(), end))) {
            try {
                return Class.forName(name.substring(0, end), false, factory.getClassLoader());
            } catch (ClassNotFoundException e) {
                // Then it is not nested there.
            }
        }
        // A lambda's own name is another one in each process.
        int lambda = name.indexOf("$$Lambda");
        throw new LeftAsItWas("a group whose handlers are made by " + (lambda < 0 ? name : name.substring(0, lambda)));
    }

    private static SelectorProvider value(Field field, Object object) throws LeftAsItWas {
        try {
            field.setAccessible(true);
            return (SelectorProvider) field.get(object);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new LeftAsItWas("a group whose selectors' provider cannot be told");
        }
    }
}
