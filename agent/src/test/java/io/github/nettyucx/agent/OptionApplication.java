// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static jdk.net.ExtendedSocketOptions.TCP_KEEPCOUNT;
import static jdk.net.ExtendedSocketOptions.TCP_KEEPIDLE;
import static jdk.net.ExtendedSocketOptions.TCP_KEEPINTERVAL;

/** Sets options of the transports that the agent replaces, each in the way that the argument names. */
public final class OptionApplication {

    /** Of the range for documentation: no machine has it. */
    private static final String NOBODYS = "192.0.2.7";
    private static final int SECONDS = 15;
    // Linux's, of <sys/socket.h>.
    private static final int SOL_SOCKET = 1;
    private static final int SO_PRIORITY = 12;

    private OptionApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        String what = arguments[0];
        if (what.startsWith("nio")) {
            run(what, new NioEventLoopGroup(1));
        } else if (Epoll.isAvailable()) {
            Epolls.run(what);
        } else {
            System.out.println("no epoll");
        }
    }

    private static void run(String what, EventLoopGroup group) throws Exception {
        switch (what) {
            case "nio-servers" -> twoServers(group, () -> with(new NioServerSocketChannel(),
                    NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true));
            case "nio-client" -> client(group, () -> {
                NioSocketChannel made = new NioSocketChannel();
                with(made, NioChannelOption.of(StandardSocketOptions.TCP_NODELAY), false);
                with(made, NioChannelOption.of(TCP_KEEPIDLE), 20);
                with(made, NioChannelOption.of(TCP_KEEPINTERVAL), 5);
                with(made, NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true);
                return with(made, NioChannelOption.of(TCP_KEEPCOUNT), 4);
            });
            case "nio-datagrams" -> {
                Channel channel = register(new Bootstrap().group(group).channelFactory((ChannelFactory<Channel>) () ->
                        with(new NioDatagramChannel(), NioChannelOption.of(StandardSocketOptions.IP_MULTICAST_LOOP), false)));
                System.out.println("loop disabled " + channel.config().getOption(ChannelOption.IP_MULTICAST_LOOP_DISABLED));
            }
            case "nio-subclass" -> System.out.println("linger " + register(new Bootstrap().group(group)
                    .channelFactory(new LingeringFactory())).config().getOption(ChannelOption.SO_LINGER));
            case "nio-transparent" -> register(new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .option(EpollChannelOption.IP_TRANSPARENT, true));
            default -> throw new IllegalArgumentException(what);
        }
        System.out.println("ended " + group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).await(2 * SECONDS,
                TimeUnit.SECONDS));
    }

    /** Of Netty 4.2 its groups have another superclass: each for itself, so that the JVM need not compare. */
    private static final class Epolls {

        static void run(String what) throws Exception {
            EventLoopGroup group = new EpollEventLoopGroup(1);
            switch (what) {
                case "epoll-servers" -> twoServers(group,
                        () -> with(new EpollServerSocketChannel(), EpollChannelOption.SO_REUSEPORT, true));
                case "epoll-client" -> client(group, () -> {
                    EpollSocketChannel made = new EpollSocketChannel();
                    with(made, ChannelOption.TCP_NODELAY, false);
                    with(made, EpollChannelOption.TCP_KEEPIDLE, 20);
                    with(made, EpollChannelOption.TCP_KEEPINTVL, 5);
                    with(made, EpollChannelOption.TCP_CORK, true);
                    with(made, ChannelOption.SO_RCVBUF, 40_000);
                    with(made, EpollChannelOption.TCP_USER_TIMEOUT, 20_000);
                    return with(made, EpollChannelOption.TCP_KEEPCNT, 4);
                });
                case "freebind" -> bind(server(group).channel(EpollServerSocketChannel.class)
                        .option(EpollChannelOption.IP_FREEBIND, true));
                case "freebind-of-factory" -> bind(server(group).channelFactory((ChannelFactory<ServerChannel>) () ->
                        with(new EpollServerSocketChannel(), EpollChannelOption.IP_FREEBIND, true)));
                case "generic" -> register(new Bootstrap().group(group).channel(EpollSocketChannel.class)
                        .option(new io.netty.channel.unix.IntegerUnixChannelOption("SO_PRIORITY", SOL_SOCKET, SO_PRIORITY), 3));
                case "original-destination" -> register(new Bootstrap().group(group).channel(EpollDatagramChannel.class)
                        .option(EpollChannelOption.IP_RECVORIGDSTADDR, true));
                case "transparent" -> register(new Bootstrap().group(group).channel(EpollSocketChannel.class)
                        .option(EpollChannelOption.IP_TRANSPARENT, true));
                case "not-transparent" -> register(new Bootstrap().group(group).channel(EpollSocketChannel.class)
                        .option(EpollChannelOption.IP_TRANSPARENT, false));
                case "signed-children" -> {
                    InetAddress peer = InetAddress.getByName(NOBODYS);
                    System.out.println(server(group).channel(EpollServerSocketChannel.class)
                            .childOption(EpollChannelOption.TCP_MD5SIG,
                                    Map.of(peer, "a key".getBytes(StandardCharsets.US_ASCII)))
                            .bind(loopback()).sync().channel().getClass().getSimpleName());
                }
                default -> throw new IllegalArgumentException(what);
            }
            System.out.println("ended " + group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).await(2 * SECONDS,
                    TimeUnit.SECONDS));
        }
    }

    private static <C extends Channel, T> C with(C made, ChannelOption<T> option, T value) {
        if (!made.config().setOption(option, value)) {
            throw new IllegalStateException(made + " does not know " + option);
        }
        return made;
    }

    /** Has the class's channels, and something for each of them. */
    private static final class LingeringFactory extends ReflectiveChannelFactory<NioSocketChannel> {

        LingeringFactory() {
            super(NioSocketChannel.class);
        }

        @Override
        public NioSocketChannel newChannel() {
            return with(super.newChannel(), ChannelOption.SO_LINGER, 7);
        }
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static ServerBootstrap server(EventLoopGroup group) {
        return new ServerBootstrap().group(group).childHandler(new ChannelInboundHandlerAdapter());
    }

    /** At one port, as the option allows it. */
    private static void twoServers(EventLoopGroup group, Supplier<ServerChannel> factory) throws Exception {
        ServerBootstrap server = server(group).channelFactory((ChannelFactory<ServerChannel>) factory::get);
        Channel first = server.bind(loopback()).sync().channel();
        Channel second = server.bind(first.localAddress()).await().channel();
        System.out.println(first.getClass().getSimpleName() + ", second is bound " + second.isActive());
    }

    private static Channel register(Bootstrap client) throws Exception {
        Channel channel = client.handler(new ChannelInboundHandlerAdapter()).register().sync().channel();
        System.out.println(channel.getClass().getSimpleName());
        return channel;
    }

    /** What its socket is to have is not told by its options. */
    private static void client(EventLoopGroup group, Supplier<Channel> factory) throws Exception {
        Channel channel = register(new Bootstrap().group(group).channelFactory((ChannelFactory<Channel>) factory::get));
        Method method = channel.config().getClass().getDeclaredMethod("socketOptions");
        method.setAccessible(true);
        Object socketOptions = method.invoke(channel.config());
        Field values = socketOptions.getClass().getDeclaredField("values");
        values.setAccessible(true);
        System.out.println("options " + values.get(socketOptions));
    }

    private static void bind(ServerBootstrap server) throws Exception {
        Channel bound = server.bind(NOBODYS, 0).await().channel();
        System.out.println(bound.getClass().getSimpleName() + " at " + bound.localAddress());
    }
}
