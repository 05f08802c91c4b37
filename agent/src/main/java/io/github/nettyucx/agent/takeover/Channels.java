// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxConnectMode;
import io.github.nettyucx.channel.UcxDatagramChannel;
import io.github.nettyucx.channel.UcxPlainPeers;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ReflectiveChannelFactory;

import java.lang.reflect.Method;
import java.net.ProtocolFamily;
import java.util.Map;
import java.util.function.Function;

/** Channels of the transport's in the place of those that applications have their bootstraps make. */
final class Channels {

    /** What a class of Netty's is replaced by. */
    private enum Kind {
        /** Its address has its family. */
        SOCKET(family -> new UcxSocketChannel(), UcxSocketChannel.class),
        SERVER(UcxServerSocketChannel::new, UcxServerSocketChannel.class),
        /** The kernel's, as before; it has to be on its handler's loop. */
        DATAGRAM(UcxDatagramChannel::new, UcxDatagramChannel.class);

        private final Function<ProtocolFamily, Channel> maker;
        private final Class<? extends Channel> type;

        Kind(Function<ProtocolFamily, Channel> maker, Class<? extends Channel> type) {
            this.maker = maker;
            this.type = type;
        }
    }

    /** By the names below the copy's root. Subclasses, which applications have, are others. */
    private static final Map<String, Kind> KINDS = Map.ofEntries(
            Map.entry(".channel.socket.nio.NioSocketChannel", Kind.SOCKET),
            Map.entry(".channel.epoll.EpollSocketChannel", Kind.SOCKET),
            Map.entry(".channel.uring.IoUringSocketChannel", Kind.SOCKET),
            Map.entry(".incubator.channel.uring.IOUringSocketChannel", Kind.SOCKET),
            Map.entry(".channel.socket.nio.NioServerSocketChannel", Kind.SERVER),
            Map.entry(".channel.epoll.EpollServerSocketChannel", Kind.SERVER),
            Map.entry(".channel.uring.IoUringServerSocketChannel", Kind.SERVER),
            Map.entry(".incubator.channel.uring.IOUringServerSocketChannel", Kind.SERVER),
            Map.entry(".channel.socket.nio.NioDatagramChannel", Kind.DATAGRAM),
            Map.entry(".channel.epoll.EpollDatagramChannel", Kind.DATAGRAM),
            Map.entry(".channel.uring.IoUringDatagramChannel", Kind.DATAGRAM),
            Map.entry(".incubator.channel.uring.IOUringDatagramChannel", Kind.DATAGRAM));

    private static final String CONNECT_MODE_PROPERTY = "io.github.nettyucx.connectMode";
    private static final String PLAIN_PEERS_PROPERTY = "io.github.nettyucx.plainPeers";
    /** In the names of handlers that write segments of datagrams, which only Netty's own channels know. */
    private static final String QUIC = ".quic.";

    /** Which channel a handler's {@code initChannel} takes; channels of another class it would close. */
    private static final ClassValue<Class<?>> INITIALIZED = new ClassValue<>() {
        @Override
        protected Class<?> computeValue(Class<?> type) {
            return initialized(type);
        }
    };

    private final String root;
    private final Families families;
    private final FactoryOptions factoryOptions = new FactoryOptions();

    /** @param root the package that is {@code io.netty} in this copy */
    Channels(String root) {
        this.root = root;
        families = new Families(root);
    }

    /**
     * Another channel in the place of this one, which is not needed then; or this one, if it is the transport's.
     *
     * @return {@code null} if nothing was to be taken over
     * @throws LeftAsItWas if the channel is not replaced although its loops are
     */
    Channel replacement(Channel made, Object factory, ChannelOrder order) throws LeftAsItWas {
        if (!order.isOfTakenLoops()) {
            return null;
        }
        if (isOurs(made)) {
            // Named by the class of a channel that has been taken over, as proxies do: what it is to expect is the agent's.
            expectPeers(made);
            return made;
        }
        String name = made.getClass().getName();
        Kind kind = name.startsWith(root) ? KINDS.get(name.substring(root.length())) : null;
        if (kind == null) {
            throw new LeftAsItWas("channels of the class " + name);
        }
        if (isInUse(made)) {
            throw new LeftAsItWas("channels of the class " + name + " that their factory has bound, connected or given"
                    + " handlers");
        }
        requireAccepted(order.handler(), kind);
        requireAccepted(order.childHandler(), Kind.SOCKET);
        boolean isUntouched = factory.getClass() == ReflectiveChannelFactory.class;
        Map<ChannelOption<?>, Object> options = isUntouched ? Map.of() : factoryOptions.setOn(made);
        NeededOptions.requireNone(made, order, options);
        Channel replacement = kind.maker.apply(isUntouched || kind == Kind.SOCKET ? null : families.chosen(made));
        expectPeers(replacement);
        FactoryOptions.copy(options, made, replacement);
        return replacement;
    }

    private static boolean isOurs(Channel made) {
        Class<?> type = made.getClass();
        return type == UcxSocketChannel.class || type == UcxServerSocketChannel.class || type == UcxDatagramChannel.class;
    }

    private static boolean isInUse(Channel made) {
        return made.isRegistered() || made.isActive() || !made.isOpen() || made.localAddress() != null
                || made.pipeline().first() != null;
    }

    // ------------------------------------------------------------------------------------------- handlers

    private static void requireAccepted(ChannelHandler handler, Kind kind) throws LeftAsItWas {
        if (handler == null) {
            return;
        }
        Class<?> type = handler.getClass();
        if (kind == Kind.DATAGRAM && type.getName().contains(QUIC)) {
            throw new LeftAsItWas("datagram channels of QUIC");
        }
        if (handler instanceof ChannelInitializer && !INITIALIZED.get(type).isAssignableFrom(kind.type)) {
            throw new LeftAsItWas("channels that " + type.getName() + " initializes, which takes "
                    + INITIALIZED.get(type).getName() + " only");
        }
    }

    /** Of the class nearest to that of the handler that declares the method, which is what is called. */
    private static Class<?> initialized(Class<?> type) {
        try {
            for (Class<?> each = type; each != null && each != ChannelInitializer.class; each = each.getSuperclass()) {
                for (Method method : each.getDeclaredMethods()) {
                    if (method.getName().equals("initChannel") && method.getParameterCount() == 1
                            && !method.isBridge() && Channel.class.isAssignableFrom(method.getParameterTypes()[0])) {
                        return method.getParameterTypes()[0];
                    }
                }
            }
        } catch (LinkageError e) {
            // Something that it names is not there, and so will not be called.
        }
        return Channel.class;
    }

    // ------------------------------------------------------------------------------------------- options

    /** What the application cannot have said. What its administrator has said by properties holds. */
    private static void expectPeers(Channel channel) {
        if (channel instanceof UcxSocketChannel && System.getProperty(CONNECT_MODE_PROPERTY) == null) {
            channel.config().setOption(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED);
        } else if (channel instanceof UcxServerSocketChannel && System.getProperty(PLAIN_PEERS_PROPERTY) == null) {
            channel.config().setOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.NEIGHBOURS);
        }
    }
}
