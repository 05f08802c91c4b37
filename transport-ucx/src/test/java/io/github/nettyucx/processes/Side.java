// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxConnectMode;
import io.github.nettyucx.channel.UcxPlainPeers;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * What one process does in these tests: it has a loop, an echo server, and connections to such servers. Options are
 * given as {@code lanes=shm}, {@code mode=PLAIN}, {@code plain=ALL}, {@code secret=...}, {@code translated=true}.
 */
final class Side implements AutoCloseable {

    private static final long SECONDS = 20;

    private final EventLoopGroup group = TestLoops.newGroup(1);
    private long seed = System.nanoTime();

    /** Starts another echo server. */
    InetSocketAddress listen(InetSocketAddress address, String... options) throws InterruptedException {
        ServerBootstrap server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new EchoExchange.Echo());
                    }
                });
        options(options).forEach((option, value) -> server.childOption(option, value));
        return (InetSocketAddress) Peers.await(server.bind(address)).channel().localAddress();
    }

    /** Connects, exchanges bytes and stays. @return the connection's lane */
    String stay(InetSocketAddress server, String... options) throws Exception {
        EchoExchange exchange = new EchoExchange(seed++);
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(client(exchange, options).connect(server)).channel();
        exchange.await();
        return channel.lane();
    }

    /** So many connections at one time exchange bytes and are closed. @return the lanes that there were */
    Set<String> meet(InetSocketAddress server, int connections, String... options) throws Exception {
        List<EchoExchange> exchanges = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            EchoExchange exchange = new EchoExchange(seed++);
            exchanges.add(exchange);
            connects.add(client(exchange, options).connect(server));
        }
        Set<String> lanes = new TreeSet<>();
        for (int i = 0; i < connections; i++) {
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(connects.get(i)).channel();
            exchanges.get(i).await();
            lanes.add(channel.lane());
            Peers.await(channel.close());
        }
        return lanes;
    }

    private Bootstrap client(EchoExchange exchange, String... options) {
        Bootstrap client = new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(exchange);
        options(options).forEach((option, value) -> client.option(option, value));
        return client;
    }

    /**
     * Connects, exchanges bytes and closes.
     *
     * @return the connection's lane, or {@code failed}, and with what
     */
    String connect(InetSocketAddress server, String... options) throws Exception {
        EchoExchange exchange = new EchoExchange(seed++);
        ChannelFuture connect = client(exchange, options).connect(server);
        if (!connect.await(SECONDS, TimeUnit.SECONDS)) {
            return "failed: not within " + SECONDS + " s";
        }
        if (!connect.isSuccess()) {
            return failed(connect.cause());
        }
        exchange.await();
        UcxSocketChannel channel = (UcxSocketChannel) connect.channel();
        String lane = channel.lane();
        Peers.await(channel.close());
        return lane;
    }

    /** The failure, with what has led to it. */
    static String failed(Throwable failure) {
        StringBuilder text = new StringBuilder("failed: ").append(failure);
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            text.append("; caused by ").append(cause);
        }
        return text.toString();
    }

    @SuppressWarnings("unchecked")
    private static Map<ChannelOption<Object>, Object> options(String... words) {
        Map<ChannelOption<Object>, Object> options = new LinkedHashMap<>();
        for (String word : words) {
            String value = word.substring(word.indexOf('=') + 1);
            switch (word.substring(0, word.indexOf('='))) {
                case "lanes" -> options.put((ChannelOption<Object>) (ChannelOption<?>) UcxChannelOption.LANES, value);
                case "mode" -> options.put((ChannelOption<Object>) (ChannelOption<?>) UcxChannelOption.CONNECT_MODE,
                        UcxConnectMode.valueOf(value));
                case "plain" -> options.put((ChannelOption<Object>) (ChannelOption<?>) UcxChannelOption.PLAIN_PEERS,
                        UcxPlainPeers.valueOf(value));
                case "secret" -> options.put((ChannelOption<Object>) (ChannelOption<?>) UcxChannelOption.SHARED_SECRET,
                        value.getBytes(StandardCharsets.US_ASCII));
                case "translated" -> options.put(
                        (ChannelOption<Object>) (ChannelOption<?>) UcxChannelOption.TRANSLATED_ADDRESSES,
                        Boolean.valueOf(value));
                default -> throw new IllegalArgumentException(word);
            }
        }
        return options;
    }

    EventLoopGroup group() {
        return group;
    }

    @Override
    public void close() {
        if (!group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the loop does not end");
        }
    }
}
