// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** Says what a {@link Node} is to be like. What is not said has the default that is written with the method. */
public final class NodeBuilder {

    private static final Duration LONGEST = Duration.ofDays(70 * 365);

    private final int id;
    private EventLoopGroup group;
    private Class<? extends Channel> channel = UcxSocketChannel.class;
    private Class<? extends ServerChannel> serverChannel = UcxServerSocketChannel.class;
    private int loops = 1;
    private UcxWaitStrategy waitStrategy;
    private SocketAddress address;
    private IntFunction<SocketAddress> directory = unknown -> null;
    private Executor executor = ForkJoinPool.commonPool();
    private NodeListener listener = new NodeListener() {
    };
    private final List<Consumer<Bootstrap>> clientOptions = new ArrayList<>();
    private final List<Consumer<ServerBootstrap>> serverOptions = new ArrayList<>();
    private Consumer<Channel> clientHandlers = ignored -> { };
    private Consumer<Channel> serverHandlers = ignored -> { };
    private int ringCapacity = 1024 * 1024;
    private long overflow = 16L * 1024 * 1024;
    private int maxMessage = 64 * 1024 * 1024;
    private Duration sendTimeout = Duration.ofSeconds(30);
    private Duration reachTimeout = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private Duration goodbyeTimeout = Duration.ofSeconds(10);
    private Duration requestSpin = Duration.ofNanos(20_000);
    private int maxRequests = 16 * 1024;
    private int maxConnections = 1024;
    private int maxPeers = 64 * 1024;

    NodeBuilder(int id) {
        if (id < 0) {
            throw new IllegalArgumentException("id of a node: " + id + " (expected: 0 or more)");
        }
        this.id = id;
    }

    // ------------------------------------------------------------------------------------------- transport

    /** How many event loops the node has, up to 1,023; 1 by default. */
    public NodeBuilder loops(int number) {
        loops = (int) inRange("loops", number, 1, Node.MAX_LOOPS);
        return this;
    }

    /** What the loops do while nothing happens; by default what {@link UcxWaitStrategy#byDefault} says. */
    public NodeBuilder waitStrategy(UcxWaitStrategy strategy) {
        waitStrategy = Objects.requireNonNull(strategy, "strategy");
        return this;
    }

    /**
     * Another transport than UCX's, or loops that are there already; the node does not shut them down.
     *
     * @param group         event loops, up to 1,023
     * @param channel       for instance {@code NioSocketChannel.class}
     * @param serverChannel for instance {@code NioServerSocketChannel.class}
     */
    public NodeBuilder transport(EventLoopGroup group, Class<? extends Channel> channel,
                                 Class<? extends ServerChannel> serverChannel) {
        this.group = Objects.requireNonNull(group, "group");
        this.channel = Objects.requireNonNull(channel, "channel");
        this.serverChannel = Objects.requireNonNull(serverChannel, "serverChannel");
        return this;
    }

    /** An option of all connections, whoever makes them: {@code UcxChannelOption.SHARED_SECRET}, for instance. */
    public <T> NodeBuilder option(ChannelOption<T> option, T value) {
        clientOptions.add(bootstrap -> bootstrap.option(option, value));
        serverOptions.add(bootstrap -> bootstrap.childOption(option, value));
        return this;
    }

    /** An option of the channel that listens. */
    public <T> NodeBuilder serverOption(ChannelOption<T> option, T value) {
        serverOptions.add(bootstrap -> bootstrap.option(option, value));
        return this;
    }

    /**
     * Handlers that come first in the pipeline, such as an {@code SslHandler}.
     *
     * @param client adds those of connections that this node makes
     * @param server adds those of connections that are made to it
     */
    public NodeBuilder handlers(Consumer<Channel> client, Consumer<Channel> server) {
        clientHandlers = Objects.requireNonNull(client, "client");
        serverHandlers = Objects.requireNonNull(server, "server");
        return this;
    }

    // ------------------------------------------------------------------------------------------- nodes

    /** Where the node listens; by default it does not, and others reach it only over connections that it has made. */
    public NodeBuilder listen(SocketAddress where) {
        address = Objects.requireNonNull(where, "where");
        return this;
    }

    /**
     * Where other nodes listen.
     *
     * @param addresses gives the address of a node, or {@code null} if it is not known; asked for each attempt to connect, by
     *                  an event loop, so it must not block
     */
    public NodeBuilder directory(IntFunction<SocketAddress> addresses) {
        directory = Objects.requireNonNull(addresses, "addresses");
        return this;
    }

    /** Is told what happens beside messages. */
    public NodeBuilder listener(NodeListener told) {
        listener = Objects.requireNonNull(told, "told");
        return this;
    }

    /** Runs the handlers of {@link Dispatch#POOL} and {@link Dispatch#POOL_IN_ORDER}; the common pool by default. */
    public NodeBuilder executor(Executor pool) {
        executor = Objects.requireNonNull(pool, "pool");
        return this;
    }

    // ------------------------------------------------------------------------------------------- sizes and limits

    /** Of the ring to each peer: a power of two from 4 KiB to 1 GiB; 1 MiB by default. */
    public NodeBuilder ringCapacity(int bytes) {
        ringCapacity = bytes;
        return this;
    }

    /** How much that event loops have sent may wait beside the ring to each peer, in bytes; 16 MiB by default. */
    public NodeBuilder overflow(long bytes) {
        overflow = inRange("overflow", bytes, 0, Long.MAX_VALUE);
        return this;
    }

    /**
     * The largest message that is sent or received, in bytes, up to 1 GiB; 64 MiB by default. An event loop does not wait for
     * room. It can send, or answer with, none that the ring and the {@link #overflow} have no room for.
     */
    public NodeBuilder maxMessage(int bytes) {
        maxMessage = (int) inRange("maxMessage", bytes, 1, 1 << 30);
        return this;
    }

    /** How long a thread waits for room in a ring, for each part of a message in parts; 30 s by default. */
    public NodeBuilder sendTimeout(Duration timeout) {
        sendTimeout = positive("sendTimeout", timeout);
        return this;
    }

    /** How long it is tried to connect to a node until what waits for it is told to be undelivered; 10 s by default. */
    public NodeBuilder reachTimeout(Duration timeout) {
        reachTimeout = positive("reachTimeout", timeout);
        return this;
    }

    /** How long {@link Node#close} waits until everything has been delivered; 5 s by default. */
    public NodeBuilder closeTimeout(Duration timeout) {
        closeTimeout = positive("closeTimeout", timeout);
        return this;
    }

    /** How long a thread spins for a response before it parks, as long as responses come in that time; 20 µs by default. */
    public NodeBuilder requestSpin(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("requestSpin: " + time + " (expected: 0 or more)");
        }
        requestSpin = time;
        return this;
    }

    /**
     * How many requests may be without an answer at the same time: a power of two up to 1,048,576; 16,384 by default. One
     * more fails with a {@link MessagingException}.
     */
    public NodeBuilder maxRequests(int number) {
        inRange("maxRequests", number, 1, 1 << 20);
        if (Integer.bitCount(number) != 1) {
            throw new IllegalArgumentException("maxRequests: " + number + " (expected: a power of two)");
        }
        maxRequests = number;
        return this;
    }

    /**
     * With more connections the one that was not used for the longest time is closed, of those over which nothing is under way
     * if there are any; 1024 by default.
     */
    public NodeBuilder maxConnections(int number) {
        maxConnections = (int) inRange("maxConnections", number, 1, Integer.MAX_VALUE);
        return this;
    }

    /**
     * How many other nodes this one remembers of those that connect to it: a node that it has not known before is sent away
     * when it knows so many. Those that {@link Node#peer} has been asked for count, and are never refused; 65,536 by default.
     */
    public NodeBuilder maxPeers(int number) {
        maxPeers = (int) inRange("maxPeers", number, 1, Integer.MAX_VALUE);
        return this;
    }

    /** How long a connection that is being closed waits for a peer that says nothing; 10 s but in tests. */
    NodeBuilder goodbyeTimeout(Duration timeout) {
        goodbyeTimeout = positive("goodbyeTimeout", timeout);
        return this;
    }

    private static long inRange(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + min + " to " + max + ")");
        }
        return value;
    }

    /** Of a time that somebody waits at most; "for ever" becomes some decades, so that deadlines can be reckoned with. */
    static long nanos(Duration time) {
        return (time.compareTo(LONGEST) < 0 ? time : LONGEST).toNanos();
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: more than 0)");
        }
        return value;
    }

    // ------------------------------------------------------------------------------------------- the node

    /**
     * Starts the node. It handles the types that {@link Node#onMessage} and {@link Node#onRequest} are told; others may come
     * before. One that listens waits until it does, and so is not for event loops of its group.
     *
     * @throws MessagingException if it cannot listen
     */
    public Node start() {
        boolean own = group == null;
        EventLoopGroup loopGroup = !own ? group
                : new UcxEventLoopGroup(loops, waitStrategy == null ? UcxWaitStrategy.byDefault() : waitStrategy);
        try {
            return new Node(new NodeSettings(id, ringCapacity, overflow, maxMessage, nanos(sendTimeout),
                    nanos(reachTimeout), nanos(requestSpin), maxRequests, maxConnections, maxPeers, nanos(closeTimeout),
                    nanos(goodbyeTimeout)), loopGroup, own, executor, listener, directory).start(this);
        } catch (RuntimeException | Error e) {
            if (own) {
                loopGroup.shutdownGracefully();
            }
            throw e;
        }
    }

    SocketAddress address() {
        return address;
    }

    Bootstrap client() {
        Bootstrap bootstrap = new Bootstrap().channel(channel);
        clientOptions.forEach(option -> option.accept(bootstrap));
        return bootstrap;
    }

    ServerBootstrap server(EventLoopGroup loopGroup) {
        ServerBootstrap bootstrap = new ServerBootstrap().group(loopGroup).channel(serverChannel);
        serverOptions.forEach(option -> option.accept(bootstrap));
        return bootstrap;
    }

    Consumer<Channel> clientHandlers() {
        return clientHandlers;
    }

    Consumer<Channel> serverHandlers() {
        return serverHandlers;
    }
}
