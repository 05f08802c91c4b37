// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * One of several processes that send each other messages and requests.
 * <pre>{@code
 * MessageType<String> hello = new MessageType<>(1, StringCodec.INSTANCE);
 * try (Node node = Node.builder(1).listen(address).directory(addresses::get).start()) {
 *     node.onMessage(hello, (from, message) -> System.out.println(from + ": " + message));
 *     node.peer(2).send(hello, "Hello, 2!");
 * }
 * }</pre>
 * Any thread may call.
 */
public final class Node implements AutoCloseable {

    static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(Node.class);

    /** Each may be in the middle of a message in fragments, and one thread beside them. */
    static final int MAX_LOOPS = Reassembly.MAX_MESSAGES - 1;
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int CONNECT_MILLIS = 30_000;
    private static final long GOODBYE_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** How often a close waits for that long, at most. */
    private static final int GOODBYES = 5;

    private final NodeSettings settings;
    private final EventLoopGroup group;
    private final boolean ownsGroup;
    private final EventExecutor[] loops;
    private final Executor executor;
    private final NodeListener listener;
    private final IntFunction<SocketAddress> directory;
    private final long incarnation = ThreadLocalRandom.current().nextLong();
    private final Counters counters = new Counters();
    private final Requests requests;
    private final Handlers handlers = new Handlers(this);
    private final Map<Integer, Peer> peers = new ConcurrentHashMap<>();
    private final Map<EventLoop, LoopTurn> turns = new ConcurrentHashMap<>();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private Bootstrap client;
    private Consumer<Channel> clientHandlers;
    private Channel server;
    /**
     * Who closes it; {@code null} as long as nobody does. With this object's lock, as peers are made: each one is closed by the node,
     * or as soon as it is made.
     */
    private Thread closer;
    private volatile boolean closed;
    /** That there are too many peers; with the lock. */
    private boolean toldOfPeers;
    /** Connections that come now are too late. */
    private volatile boolean ended;

    Node(NodeSettings settings, EventLoopGroup group, boolean ownsGroup, Executor executor, NodeListener listener,
         IntFunction<SocketAddress> directory) {
        this.settings = settings;
        this.group = group;
        this.ownsGroup = ownsGroup;
        this.executor = executor;
        this.listener = listener;
        this.directory = directory;
        List<EventExecutor> all = new ArrayList<>();
        group.forEach(all::add);
        loops = all.toArray(EventExecutor[]::new);
        if (loops.length > MAX_LOOPS) {
            throw new IllegalArgumentException("a group of " + loops.length + " event loops (expected: up to " + MAX_LOOPS + ")");
        }
        requests = new Requests(this, settings.maxRequests());
        // Says at once if the capacity is no good.
        Ring.checked(settings.ringCapacity());
    }

    /** Begins to say what a node is to be like. @param id 0 or more; all nodes that know each other have different ones */
    public static NodeBuilder builder(int id) {
        return new NodeBuilder(id);
    }

    Node start(NodeBuilder builder) {
        client = builder.client();
        clientHandlers = builder.clientHandlers();
        if (builder.address() != null) {
            if (isLoop()) {
                throw new IllegalStateException("an event loop must not start a node that listens: that waits for event loops");
            }
            Consumer<Channel> first = builder.serverHandlers();
            ChannelFuture bound = builder.server(group).childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    first.accept(channel);
                    channel.pipeline().addLast(new Connection(Node.this, null));
                }
            }).bind(builder.address()).awaitUninterruptibly();
            if (!bound.isSuccess()) {
                throw new MessagingException("node " + settings.id() + " cannot listen at " + builder.address() + ": "
                        + bound.cause().getMessage(), bound.cause());
            }
            server = bound.channel();
        }
        return this;
    }

    // ------------------------------------------------------------------------------------------- for applications

    /** The node's own id. */
    public int id() {
        return settings.id();
    }

    /** Where it listens, or {@code null} if it does not. */
    public SocketAddress address() {
        return server == null ? null : server.localAddress();
    }

    /**
     * The node with that id. That it exists is found out when something is sent to it.
     *
     * @throws IllegalArgumentException if the id is negative, or this node's own
     */
    public Peer peer(int id) {
        Peer known = peers.get(id);
        return known != null ? known : newPeer(id);
    }

    private Peer newPeer(int id) {
        if (id < 0 || id == settings.id()) {
            throw new IllegalArgumentException("id of a peer: " + id + " (expected: 0 or more, and not "
                    + settings.id() + ", which is this node)");
        }
        synchronized (this) {
            return peers.computeIfAbsent(id, missing -> {
                Peer peer = new Peer(this, missing, group.next());
                if (closer != null) {
                    peer.close();
                }
                return peer;
            });
        }
    }

    /**
     * The node that has connected to this one.
     *
     * @throws IllegalArgumentException if this node knows too many others to remember it
     */
    Peer met(int id) {
        Peer known = peers.get(id);
        if (known != null) {
            return known;
        }
        synchronized (this) {
            if (peers.size() >= settings.maxPeers() && !peers.containsKey(id)) {
                String reason = "node " + id + " has connected, but node " + settings.id() + " knows " + peers.size()
                        + " others, and its maxPeers is " + settings.maxPeers();
                if (!toldOfPeers) {
                    toldOfPeers = true;
                    LOGGER.warn("{}: it is sent away, as are others that come. That is logged once.", reason);
                }
                throw new IllegalArgumentException(reason);
            }
            return newPeer(id);
        }
    }

    /**
     * Says who handles messages of a type.
     *
     * @throws IllegalArgumentException if somebody does already
     */
    public <T> void onMessage(MessageType<T> type, MessageHandler<? super T> handler) {
        handlers.add(type, Objects.requireNonNull(handler, "handler"));
    }

    /**
     * Says who handles requests of a type.
     *
     * @throws IllegalArgumentException if somebody does already
     */
    public <Q, R> void onRequest(RequestType<Q, R> type, RequestHandler<? super Q, R> handler) {
        handlers.add(type, Objects.requireNonNull(handler, "handler"));
    }

    /** What the node has done so far. */
    public NodeMetrics metrics() {
        List<LoopCounters> loopCounters = turns.values().stream().map(LoopTurn::counters).toList();
        return counters.snapshot(LoopCounters.sum(loopCounters), requests.begun(), connections.size());
    }

    /**
     * Ends the node in good order: nothing more is accepted; what has been sent is delivered, for the {@code closeTimeout} at
     * most; connections are closed; the rest is told to be undelivered. Blocks meanwhile, and so is not for event loops. Whoever
     * calls it when it is under way waits for its end as well, but for what it calls itself on the same thread.
     */
    @Override
    public void close() {
        if (isLoop()) {
            throw new IllegalStateException("an event loop must not close its node: that waits for event loops");
        }
        boolean first;
        synchronized (this) {
            first = closer == null;
            closer = first ? Thread.currentThread() : closer;
        }
        if (first) {
            try {
                closeInOrder();
            } finally {
                closed = true;
            }
        } else if (closer != Thread.currentThread()) {
            // The first one may tell a listener that waits for this thread.
            awaitAll(System.nanoTime() + 2 * settings.closeTimeoutNanos() + GOODBYES * GOODBYE_NANOS,
                    () -> closed);
        }
    }

    private void closeInOrder() {
        peers.values().forEach(Peer::close);
        awaitAll(System.nanoTime() + settings.closeTimeoutNanos(), () -> peers.values().stream().allMatch(Peer::isSettled));
        if (server != null) {
            // Not for ever: its loop may be what ends the JVM, and wait for the thread that closes.
            server.close().awaitUninterruptibly(TimeUnit.NANOSECONDS.toMillis(GOODBYE_NANOS));
        }
        connections.forEach(Connection::leave);
        awaitAll(System.nanoTime() + GOODBYE_NANOS, connections::isEmpty);
        ended = true;
        connections.forEach(this::end);
        awaitAll(System.nanoTime() + GOODBYE_NANOS, connections::isEmpty);
        peers.values().forEach(Peer::end);
        if (ownsGroup) {
            // Not for ever: a listener may wait for the thread that closes.
            group.shutdownGracefully(0, GOODBYE_NANOS, TimeUnit.NANOSECONDS)
                    .awaitUninterruptibly(TimeUnit.NANOSECONDS.toMillis(settings.closeTimeoutNanos() + 2 * GOODBYE_NANOS));
        }
    }

    private void end(Connection connection) {
        connection.fail(new MessagingException.NodeLost("this node has been closed", null));
    }

    private static void awaitAll(long deadline, java.util.function.BooleanSupplier condition) {
        boolean interrupted = false;
        while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(POLL_NANOS);
            // With it a thread does not park.
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ------------------------------------------------------------------------------------------- for its parts

    NodeSettings settings() {
        return settings;
    }

    long incarnation() {
        return incarnation;
    }

    Counters counters() {
        return counters;
    }

    Requests requests() {
        return requests;
    }

    Handlers handlers() {
        return handlers;
    }

    Executor executor() {
        return executor;
    }

    ScheduledExecutorService timer() {
        return loops.length == 1 ? loops[0] : group.next();
    }

    /**
     * On one of the loops that have not ended.
     *
     * @throws RejectedExecutionException if all have
     */
    void schedule(Runnable task, long nanos) {
        RejectedExecutionException rejected;
        try {
            timer().schedule(task, nanos, TimeUnit.NANOSECONDS);
            return;
        } catch (RejectedExecutionException e) {
            rejected = e;
        }
        for (EventExecutor loop : loops) {
            try {
                loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
                return;
            } catch (RejectedExecutionException e) {
                rejected = e;
            }
        }
        throw rejected;
    }

    /** How many event loops the node has. */
    int loops() {
        return loops.length;
    }

    /** Whether the calling thread is one of the node's event loops. */
    boolean isLoop() {
        for (EventExecutor loop : loops) {
            if (loop.inEventLoop()) {
                return true;
            }
        }
        return false;
    }

    LoopTurn turn(EventLoop loop) {
        return turns.computeIfAbsent(loop, ignored -> new LoopTurn());
    }

    void told(Consumer<NodeListener> event) {
        try {
            event.accept(listener);
        } catch (Throwable e) {
            // Of an application: whoever tells goes on.
            LOGGER.warn("The listener of node {} has thrown.", settings.id(), e);
        }
    }

    /** Tries once to connect to a peer, which is told if that fails. */
    void connect(Peer peer, EventLoop loop) {
        SocketAddress address;
        try {
            address = directory.apply(peer.id());
        } catch (Throwable e) {
            peer.unreachable(e);
            return;
        }
        if (address == null) {
            peer.unreachable(new MessagingException("this node's directory has no address of node " + peer.id()));
            return;
        }
        client.clone(loop).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMillis(peer)).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                clientHandlers.accept(channel);
                channel.pipeline().addLast(new Connection(Node.this, peer));
            }
        }).connect(address).addListener((ChannelFuture future) -> {
            // A channel that has been connected tells by its end if it comes to nothing.
            if (!future.isSuccess()) {
                peer.unreachable(future.cause());
            }
        });
    }

    /** What is left of the time to reach the peer; no more than the application says for each attempt, or Netty does. */
    private int connectMillis(Peer peer) {
        Integer each = (Integer) client.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS);
        int most = each == null ? CONNECT_MILLIS : each == 0 ? Integer.MAX_VALUE : each;
        return Math.min(most, peer.reachMillis());
    }

    /** A connection is ready. */
    void opened(Connection connection) {
        counters.opened.increment();
        connections.add(connection);
        if (ended) {
            end(connection);
        } else if (connections.size() > settings.maxConnections()) {
            // Not with the lock: a connection that ends is told to the application.
            surplus(connection).forEach(Connection::leave);
        }
    }

    /** Those that have to go for a new one. Each is chosen once, also if several loops open one at the same time. */
    private synchronized List<Connection> surplus(Connection opened) {
        List<Connection> surplus = new ArrayList<>();
        long staying = connections.stream().filter(other -> !other.isLeaving() && !other.hasFailed()).count();
        for (; staying > settings.maxConnections(); staying--) {
            connections.stream().filter(other -> other != opened && other.isUsable() && !other.isLeaving())
                    .min(Comparator.comparing(Connection::isBusy).thenComparingLong(Connection::usedNanos)).ifPresent(oldest -> {
                        oldest.mustLeave();
                        surplus.add(oldest);
                    });
        }
        return surplus;
    }

    void closed(Connection connection, boolean inOrder) {
        connections.remove(connection);
        if (inOrder) {
            counters.closed.increment();
        } else {
            counters.lost.increment();
        }
    }

    @Override
    public String toString() {
        return "node " + settings.id() + (server == null ? "" : " at " + server.localAddress());
    }
}
