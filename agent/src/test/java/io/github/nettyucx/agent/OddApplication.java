// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.SegmentedDatagramPacket;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/**
 * What applications do with channels that is not the common case, each by the name that is the argument. Prints
 * {@code CLASS of the client's channel} and what came back.
 */
@SuppressWarnings("deprecation")
public final class OddApplication {

    private static final int SECONDS = 15;

    private final SynchronousQueue<String> answers = new SynchronousQueue<>();

    private OddApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = group(arguments[0]);
        new OddApplication().run(arguments[0], group);
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        System.out.println("ended " + group.terminationFuture().await(SECONDS, TimeUnit.SECONDS));
        System.exit(0);
    }

    private static EventLoopGroup group(String what) throws Exception {
        if (what.startsWith("epoll")) {
            return Epolls.group();
        }
        if (what.equals("own-provider")) {
            return new NioEventLoopGroup(2, (Executor) null, (SelectorProvider)
                    Class.forName("sun.nio.ch.EPollSelectorProvider").getDeclaredConstructor().newInstance());
        }
        if (what.equals("subclass-of-both") || what.equals("local-of-own-group")) {
            return new UsualGroup();
        }
        if (what.startsWith("bounded-executor")) {
            return new NioEventLoopGroup(2, Executors.newFixedThreadPool(2));
        }
        return switch (what) {
            case "own-group" -> Own42.group();
            case "own-group-of-netty" -> new io.netty.odd.OwnGroup();
            case "moves-as-is-known" -> new org.apache.ignite.internal.network.netty.NamedNioEventLoopGroup();
            default -> new NioEventLoopGroup(2);
        };
    }

    /** Of Netty 4.2 its superclass is another one: each for itself, so that the JVM need not compare. */
    private static final class Epolls {
        static EventLoopGroup group() {
            return new EpollEventLoopGroup(2);
        }

        static void ipv4(OddApplication application, EventLoopGroup group) throws Exception {
            application.ipv4(group, () -> new EpollServerSocketChannel(InternetProtocolFamily.IPv4),
                    () -> new EpollDatagramChannel(InternetProtocolFamily.IPv4));
        }
    }

    /** Only for Netty 4.2. */
    private static final class Own42 {

        static EventLoopGroup group() {
            return new OwnGroup();
        }

        static void register(EventLoopGroup group) throws Exception {
            java.nio.channels.Pipe pipe = java.nio.channels.Pipe.open();
            pipe.source().configureBlocking(false);
            System.out.println("registered " + ((IoEventLoop) group.next()).register(new OwnHandle(pipe.source())).sync()
                    .getNow().isValid());
        }

        /** A selectable channel of the JDK's, which Netty knows nothing else of. */
        private record OwnHandle(java.nio.channels.SelectableChannel selectableChannel) implements NioIoHandle {

            @Override
            public void handle(IoRegistration registration, IoEvent event) {
            }

            @Override
            public void close() throws java.io.IOException {
                selectableChannel.close();
            }
        }

        /** Takes its loops for what they are without the agent. */
        private static final class OwnGroup extends MultiThreadIoEventLoopGroup {

            OwnGroup() {
                super(2, NioIoHandler.newFactory());
            }

            @Override
            protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
                return new SingleThreadIoEventLoop(this, executor, factory);
            }
        }
    }

    private void run(String what, EventLoopGroup group) throws Exception {
        switch (what) {
            case "subclass", "subclass-of-both", "bounded-executor-subclass" -> echo(group,
                    new ServerBootstrap().group(group).channel(OwnServer.class),
                    new Bootstrap().group(group).channel(OwnClient.class), loopback());
            case "initializer" -> echo(group, new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<NioSocketChannel>() {
                        @Override
                        protected void initChannel(NioSocketChannel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    }), new Bootstrap().group(group).channel(NioSocketChannel.class), loopback());
            case "own-provider", "provider-of-the-jvm", "bounded-executor", "own-group", "own-group-of-netty" -> echo(group,
                    new ServerBootstrap().group(group).channel(NioServerSocketChannel.class),
                    new Bootstrap().group(group).channel(NioSocketChannel.class), loopback());
            case "configured" -> echo(group, new ServerBootstrap().group(group).channel(NioServerSocketChannel.class),
                    new Bootstrap().group(group).channelFactory((ChannelFactory<Channel>) () -> {
                        NioSocketChannel made = new NioSocketChannel();
                        made.config().setWriteBufferWaterMark(new WriteBufferWaterMark(17, 4711)).setSoLinger(7);
                        return made;
                    }), loopback());
            case "with-handlers" -> echo(group, new ServerBootstrap().group(group)
                    .channel(NioServerSocketChannel.class), new Bootstrap().group(group)
                    .channelFactory((ChannelFactory<Channel>) () -> {
                        NioSocketChannel made = new NioSocketChannel();
                        made.pipeline().addLast(new ChannelInboundHandlerAdapter());
                        return made;
                    }), loopback());
            case "local", "local-of-own-group" -> echo(group, new ServerBootstrap().group(group).channel(LocalServerChannel.class),
                    new Bootstrap().group(group).channel(LocalChannel.class), new LocalAddress("odd"));
            case "moves", "moves-as-is-known" -> moves(group);
            case "by-hand" -> byHand(group);
            case "one-loop" -> oneLoop(group);
            case "again" -> again(group);
            case "odd-registrations" -> oddRegistrations(group);
            case "class-of-channel" -> classOfChannel(group);
            case "handle" -> Own42.register(group);
            case "epoll-domain" -> echo(group, new ServerBootstrap().group(group)
                    .channel(EpollServerDomainSocketChannel.class), new Bootstrap().group(group)
                    .channel(EpollDomainSocketChannel.class),
                    new DomainSocketAddress(Path.of(System.getProperty("java.io.tmpdir"),
                            "odd-" + ProcessHandle.current().pid()).toString()));
            case "epoll-options" -> epollOptions(group);
            case "datagrams" -> datagrams(group);
            case "epoll-segments" -> segments(group);
            case "ipv4" -> ipv4(group,
                    () -> new NioServerSocketChannel(SelectorProvider.provider(), InternetProtocolFamily.IPv4),
                    () -> new NioDatagramChannel(InternetProtocolFamily.IPv4));
            case "epoll-ipv4" -> Epolls.ipv4(this, group);
            case "both-families" -> ipv4(group, () -> new NioServerSocketChannel(), () -> new NioDatagramChannel());
            case "resolver" -> resolver(group);
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    // ------------------------------------------------------------------------------------------- streams

    /** Has Netty make its loops. */
    private static final class UsualGroup extends NioEventLoopGroup {

        UsualGroup() {
            super(2);
        }
    }

    public static final class OwnServer extends NioServerSocketChannel {
    }

    public static final class OwnClient extends NioSocketChannel {
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!context.channel().eventLoop().inEventLoop()) {
                throw new IllegalStateException("on the wrong thread");
            }
            context.writeAndFlush(message);
        }
    }

    /** What comes first. */
    private final class Answer extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) throws Exception {
            answers.put(context.channel().eventLoop().inEventLoop() + " "
                    + message.toString(StandardCharsets.US_ASCII));
        }
    }

    /** To another loop of its group, when it is connected. */
    private void moves(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).childHandler(new Echo())
                .bind(loopback()).sync().channel();
        Channel channel = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new Answer())
                .connect(listening.localAddress()).sync().channel();
        for (int i = 0; i < 2; i++) {
            boolean left = channel.deregister().await().isSuccess();
            System.out.println("moved " + (left && group.register(channel).await().isSuccess()));
        }
        channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        channel.close().sync();
        listening.close().sync();
    }

    private void echo(EventLoopGroup group, ServerBootstrap server, Bootstrap client, SocketAddress at)
            throws Exception {
        if (server.config().childHandler() == null) {
            server.childHandler(new Echo());
        }
        Channel listening = server.bind(at).sync().channel();
        Channel channel = client.handler(new Answer()).connect(listening.localAddress()).sync().channel();
        channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        System.out.println(channel.getClass().getSimpleName() + " of the client, "
                + listening.getClass().getSimpleName() + " of the server");
        System.out.println("water mark " + channel.config().getWriteBufferWaterMark() + " linger "
                + channel.config().getOption(ChannelOption.SO_LINGER));
        channel.close().sync();
        listening.close().sync();
    }

    /** No bootstrap: what it makes and registers is its own. */
    private void byHand(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new Echo()).bind(loopback()).sync().channel();
        NioSocketChannel channel = new NioSocketChannel();
        channel.pipeline().addLast(new Answer());
        EventLoop loop = group.next();
        loop.register(channel).sync();
        channel.connect(listening.localAddress()).sync();
        channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        System.out.println(channel.getClass().getSimpleName() + " of the client");
    }

    private void again(EventLoopGroup group) throws Exception {
        Channel channel = new Bootstrap().group(group).channel(OwnClient.class).handler(new ChannelInboundHandlerAdapter())
                .register().sync().channel();
        channel.deregister().sync();
        group.register(channel).sync();
        System.out.println("registered again " + channel.isRegistered());
        channel.close().sync();
    }

    /** As proxies have it: what goes out is on the loop of what has come in. */
    private void oneLoop(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new Echo()).bind(loopback()).sync().channel();
        Channel first = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listening.localAddress()).sync().channel();
        Bootstrap outbound = new Bootstrap().group(first.eventLoop()).channel(OwnClient.class).handler(new Answer());
        Channel channel = outbound.connect(listening.localAddress()).sync().channel();
        channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        outbound.handler(new ChannelInboundHandlerAdapter()).connect(listening.localAddress()).sync();
        System.out.println(first.getClass().getSimpleName() + " and " + channel.getClass().getSimpleName()
                + ", on one loop " + (first.eventLoop() == channel.eventLoop()));
    }

    /** By the promise of another channel, and with no loop. */
    @SuppressWarnings("deprecation")
    private static void oddRegistrations(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new Echo()).bind(loopback()).sync().channel();
        NioSocketChannel channel = new NioSocketChannel();
        System.out.println("succeeded " + group.next().register(channel, listening.newPromise()).sync().isSuccess()
                + ", registered " + channel.isRegistered() + ", the other one is open " + listening.isOpen());
        NioSocketChannel none = new NioSocketChannel();
        try {
            none.unsafe().register(null, none.newPromise());
            System.out.println("taken");
        } catch (NullPointerException e) {
            System.out.println("refused");
        }
        none.unsafe().closeForcibly();
        channel.close().sync();
    }

    /** As a proxy does it, to a server that is none of Netty's. */
    private void classOfChannel(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new Echo()).bind(loopback()).sync().channel();
        Channel other = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listening.localAddress()).sync().channel();
        try (java.net.ServerSocket ordinary = new java.net.ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = new Bootstrap().group(group).channel(other.getClass()).handler(new Answer())
                    .connect(ordinary.getLocalSocketAddress()).sync().channel();
            channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
            try (java.net.Socket accepted = ordinary.accept()) {
                accepted.getOutputStream().write(accepted.getInputStream().readNBytes(3));
                System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
            }
            System.out.println(channel.getClass().getSimpleName() + " of the client");
        }
    }

    /** Two servers at one port, as the kernel allows it, and what else epoll has. */
    private void epollOptions(EventLoopGroup group) throws Exception {
        System.out.println("epoll " + Epoll.isAvailable());
        ServerBootstrap server = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
                .option(io.netty.channel.epoll.EpollChannelOption.SO_REUSEPORT, true)
                .option(io.netty.channel.epoll.EpollChannelOption.TCP_FASTOPEN, 3)
                .childOption(io.netty.channel.epoll.EpollChannelOption.TCP_USER_TIMEOUT, 20_000)
                .childOption(io.netty.channel.epoll.EpollChannelOption.TCP_QUICKACK, true)
                .childHandler(new Echo());
        Channel first = server.bind(loopback()).sync().channel();
        Channel second = server.bind(first.localAddress()).sync().channel();
        System.out.println("both " + second.isActive());
        ((EpollEventLoopGroup) group).setIoRatio(80);
        Channel channel = new Bootstrap().group(group).channel(EpollSocketChannel.class).handler(new Answer())
                .option(io.netty.channel.epoll.EpollChannelOption.TCP_KEEPIDLE, 20)
                .option(io.netty.channel.epoll.EpollChannelOption.TCP_CORK, false)
                .connect(first.localAddress()).sync().channel();
        channel.writeAndFlush(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII)).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        System.out.println(channel.getClass().getSimpleName() + " of the client");
    }

    // ------------------------------------------------------------------------------------------- datagrams

    private void datagrams(EventLoopGroup group) throws Exception {
        Channel receiver = new Bootstrap().group(group).channel(NioDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) throws Exception {
                        answers.put(context.channel().eventLoop().inEventLoop() + " "
                                + packet.content().toString(StandardCharsets.US_ASCII));
                    }
                }).bind(loopback()).sync().channel();
        Channel sender = new Bootstrap().group(group).channel(NioDatagramChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).bind(0).sync().channel();
        sender.writeAndFlush(new DatagramPacket(Unpooled.copiedBuffer("odd", StandardCharsets.US_ASCII),
                (InetSocketAddress) receiver.localAddress())).sync();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        System.out.println(sender.getClass().getSimpleName() + " of the client");
    }

    /** One packet, and what comes of it. */
    private void segments(EventLoopGroup group) throws Exception {
        Channel sender = new Bootstrap().group(group).channel(EpollDatagramChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).bind(0).sync().channel();
        try (java.net.DatagramSocket receiver = new java.net.DatagramSocket(loopback())) {
            receiver.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
            sender.writeAndFlush(new SegmentedDatagramPacket(Unpooled.copiedBuffer("onetwosix.", StandardCharsets.US_ASCII), 3,
                    (InetSocketAddress) receiver.getLocalSocketAddress())).sync();
            StringBuilder came = new StringBuilder("came");
            while (came.charAt(came.length() - 1) != '.') {
                java.net.DatagramPacket packet = new java.net.DatagramPacket(new byte[16], 16);
                receiver.receive(packet);
                came.append(' ').append(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII));
            }
            System.out.println(came);
        }
        System.out.println(sender.getClass().getSimpleName() + " of the client");
    }

    /** Whether sockets at the wildcard of IPv4, from factories that have chosen a family, are there over IPv6 as well. */
    private void ipv4(EventLoopGroup group, ChannelFactory<ServerChannel> servers, ChannelFactory<Channel> datagrams)
            throws Exception {
        Channel listening = new ServerBootstrap().group(group).channelFactory(servers).childHandler(new Echo())
                .bind("0.0.0.0", 0).sync().channel();
        Channel receiver = new Bootstrap().group(group).channelFactory(datagrams)
                .handler(new ChannelInboundHandlerAdapter()).bind("0.0.0.0", 0).sync().channel();
        System.out.println(listening.getClass().getSimpleName() + " and " + receiver.getClass().getSimpleName());
        System.out.println("over IPv4: " + connection("127.0.0.1", listening) + ", " + datagram("127.0.0.1", receiver));
        System.out.println("over IPv6: " + connection("::1", listening) + ", " + datagram("::1", receiver));
        listening.close().sync();
        receiver.close().sync();
    }

    private static String connection(String host, Channel server) throws Exception {
        try (java.net.Socket client = new java.net.Socket(host, port(server))) {
            return client.isConnected() ? "connected" : "not connected";
        } catch (java.net.ConnectException e) {
            return "refused";
        }
    }

    /** The kernel tells the sender that nobody is there. */
    private static String datagram(String host, Channel receiver) throws Exception {
        try (java.net.DatagramSocket sender = new java.net.DatagramSocket()) {
            sender.connect(InetAddress.getByName(host), port(receiver));
            sender.setSoTimeout(500);
            sender.send(new java.net.DatagramPacket(new byte[1], 1));
            sender.receive(new java.net.DatagramPacket(new byte[1], 1));
            return "answered";
        } catch (java.net.PortUnreachableException e) {
            return "unreachable";
        } catch (java.net.SocketTimeoutException e) {
            return "taken";
        }
    }

    private static int port(Channel channel) {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    /** Of a name server that this process is itself. */
    private void resolver(EventLoopGroup group) throws Exception {
        try (java.net.DatagramSocket names = new java.net.DatagramSocket(loopback())) {
            Thread.ofVirtual().start(() -> answerQueries(names));
            DnsNameResolver resolver = new DnsNameResolverBuilder(group.next())
                    .channelType(NioDatagramChannel.class)
                    .resolvedAddressTypes(io.netty.resolver.ResolvedAddressTypes.IPV4_ONLY)
                    .nameServerProvider(new SingletonDnsServerAddressStreamProvider(
                            (InetSocketAddress) names.getLocalSocketAddress())).build();
            System.out.println("answer " + resolver.resolve("odd.example.").get(SECONDS, TimeUnit.SECONDS));
            resolver.close();
        }
    }

    /** Each name is that of 192.0.2.7. */
    private static void answerQueries(java.net.DatagramSocket names) {
        try {
            while (true) {
                java.net.DatagramPacket query = new java.net.DatagramPacket(new byte[512], 512);
                names.receive(query);
                ByteBuf answer = Unpooled.buffer();
                // Identity; an answer without an error; one question, one record, no others.
                answer.writeBytes(query.getData(), 0, 2).writeShort(0x8180).writeShort(1).writeShort(1).writeInt(0);
                int questionEnd = 12;
                while (query.getData()[questionEnd] != 0) {
                    questionEnd += query.getData()[questionEnd] + 1;
                }
                answer.writeBytes(query.getData(), 12, questionEnd + 5 - 12);
                // The same name, an address, of the Internet, for a minute, of four bytes.
                answer.writeShort(0xc00c).writeShort(1).writeShort(1).writeInt(60).writeShort(4).writeInt(0xc0000207);
                byte[] bytes = new byte[answer.readableBytes()];
                answer.readBytes(bytes);
                names.send(new java.net.DatagramPacket(bytes, bytes.length, query.getSocketAddress()));
            }
        } catch (java.io.IOException e) {
            // Closed: the test is over.
        }
    }
}
