// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxDatagramChannel;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import reactor.core.publisher.Mono;
import reactor.netty.FutureMono;
import reactor.netty.resources.LoopResources;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Has Reactor Netty's clients and servers run over UCX:
 * <pre>{@code
 * LoopResources ucx = UcxLoopResources.create("orders");
 * HttpServer.create().runOn(ucx)
 * HttpClient.create().runOn(ucx)
 * }</pre>
 * Threads are started when they are first needed. One object may serve any number of clients and servers, and is
 * disposed by who made it. Any thread may call.
 * <p>
 * What Reactor Netty asks for with {@code preferNative} switched off (the second argument of {@code runOn}) gets loops
 * of Java's NIO, and so speaks TCP, and not UCX.
 * <p>
 * Clients look names up in the DNS as they do on other loops, over UDP. Only an answer that is too long for a datagram,
 * and has to be asked for again over TCP, needs NIO's loops:
 * {@code HttpClient.create().runOn(ucx).resolver(spec -> spec.runOn(ucx, false))}.
 */
public final class UcxLoopResources implements LoopResources {

    private static final int NO_SELECT_LOOPS = -1;

    private final String prefix;
    private final int selectCount;
    private final int workerCount;
    private final boolean daemon;
    private final boolean colocate;
    private final UcxWaitStrategy waitStrategy;
    private final LoopResources nio;

    // What follows is made on demand, under the lock of this.
    private UcxEventLoopGroup workers;
    private UcxEventLoopGroup selectors;
    private EventLoopGroup clients;
    private volatile boolean disposed;
    /** Of {@link #nio}, as soon as somebody waits for it. Guarded by this. */
    private Mono<Void> nioEnd;

    private UcxLoopResources(String prefix, int selectCount, int workerCount, boolean daemon, boolean colocate,
                             UcxWaitStrategy waitStrategy) {
        this.prefix = prefix;
        this.selectCount = selectCount;
        this.workerCount = workerCount;
        this.daemon = daemon;
        this.colocate = colocate;
        this.waitStrategy = waitStrategy;
        nio = LoopResources.create(prefix, selectCount, workerCount, daemon, colocate);
    }

    /**
     * As many loops as Reactor Netty has by default (the system properties {@code reactor.netty.ioWorkerCount} and
     * {@code reactor.netty.ioSelectCount}), in daemon threads, with the default wait strategy.
     *
     * @param prefix what the names of the threads begin with
     * @throws UnsatisfiedLinkError     if the transport cannot be used
     * @throws IllegalArgumentException if the prefix is empty
     */
    public static UcxLoopResources create(String prefix) {
        return create(prefix, DEFAULT_IO_SELECT_COUNT, DEFAULT_IO_WORKER_COUNT, true, true,
                UcxWaitStrategy.byDefault());
    }

    /**
     * @param prefix      what the names of the threads begin with
     * @param workerCount how many loops, at least 1; they accept connections, too
     * @param daemon      whether the threads let the JVM exit
     * @throws UnsatisfiedLinkError     if the transport cannot be used
     * @throws IllegalArgumentException if the prefix is empty, or the number less than 1
     */
    public static UcxLoopResources create(String prefix, int workerCount, boolean daemon) {
        return create(prefix, NO_SELECT_LOOPS, workerCount, daemon, true, UcxWaitStrategy.byDefault());
    }

    /**
     * @param prefix       what the names of the threads begin with
     * @param selectCount  how many loops that only accept connections, at least 1; or -1 for none, then the others do it
     * @param workerCount  how many loops, at least 1
     * @param daemon       whether the threads let the JVM exit
     * @param colocate     whether a client that is used in a loop's thread gets its connections on that loop
     * @param waitStrategy what the loops do while nothing happens
     * @throws UnsatisfiedLinkError     if the transport cannot be used
     * @throws IllegalArgumentException if the prefix is empty, or a number out of range
     */
    public static UcxLoopResources create(String prefix, int selectCount, int workerCount, boolean daemon,
                                          boolean colocate, UcxWaitStrategy waitStrategy) {
        if (Objects.requireNonNull(prefix, "prefix").isEmpty()) {
            throw new IllegalArgumentException("prefix: empty (expected: what the names of the threads begin with)");
        }
        if (selectCount != NO_SELECT_LOOPS && selectCount < 1) {
            throw new IllegalArgumentException("selectCount: " + selectCount + " (expected: at least 1, or -1 for none)");
        }
        if (workerCount < 1) {
            throw new IllegalArgumentException("workerCount: " + workerCount + " (expected: at least 1)");
        }
        Objects.requireNonNull(waitStrategy, "waitStrategy");
        // Not later, in the middle of a connect.
        Ucx.ensureUsable();
        return new UcxLoopResources(prefix, selectCount, workerCount, daemon, colocate, waitStrategy);
    }

    /** The loops of connections that servers accept: UCX's, or NIO's if {@code useNative} is false. */
    @Override
    public EventLoopGroup onServer(boolean useNative) {
        if (!useNative) {
            return nio.onServer(false);
        }
        synchronized (this) {
            if (workers == null) {
                workers = group(workerCount, prefix + "-ucx-");
            }
            return workers;
        }
    }

    /** The loops of servers themselves: UCX's, or NIO's if {@code useNative} is false. */
    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
        if (!useNative) {
            return nio.onServerSelect(false);
        }
        if (selectCount == NO_SELECT_LOOPS) {
            return onServer(true);
        }
        synchronized (this) {
            if (selectors == null) {
                selectors = group(selectCount, prefix + "-select-ucx-");
            }
            return selectors;
        }
    }

    /** The loops of connections that clients make: UCX's, or NIO's if {@code useNative} is false. */
    @Override
    public EventLoopGroup onClient(boolean useNative) {
        if (!useNative) {
            return nio.onClient(false);
        }
        synchronized (this) {
            if (clients == null) {
                EventLoopGroup group = onServer(true);
                clients = colocate ? LoopResources.colocate(group) : group;
            }
            return clients;
        }
    }

    /** Locked, so that nothing is made after {@link #disposeLater} has looked what there is. */
    private UcxEventLoopGroup group(int loops, String threadPrefix) {
        if (disposed) {
            throw new IllegalStateException(this + " has been disposed; make another one with UcxLoopResources.create");
        }
        return new UcxEventLoopGroup(loops, new LoopThread.Factory(threadPrefix, daemon), waitStrategy);
    }

    private synchronized boolean isOurs(EventLoopGroup group) {
        return group == workers || group == selectors || group == clients;
    }

    @Override
    public <CHANNEL extends Channel> CHANNEL onChannel(Class<CHANNEL> channelType, EventLoopGroup group) {
        if (!isOurs(group)) {
            return nio.onChannel(channelType, group);
        }
        if (channelType == SocketChannel.class) {
            return channelType.cast(new UcxSocketChannel());
        }
        if (channelType == ServerSocketChannel.class) {
            return channelType.cast(new UcxServerSocketChannel());
        }
        if (channelType == DatagramChannel.class) {
            // A client's resolver asks the DNS with it.
            return channelType.cast(new UcxDatagramChannel());
        }
        throw unsupported(channelType);
    }

    @Override
    public <CHANNEL extends Channel> Class<? extends CHANNEL> onChannelClass(Class<CHANNEL> channelType,
                                                                            EventLoopGroup group) {
        if (!isOurs(group)) {
            return nio.onChannelClass(channelType, group);
        }
        if (channelType == SocketChannel.class) {
            return UcxSocketChannel.class.asSubclass(channelType);
        }
        if (channelType == ServerSocketChannel.class) {
            return UcxServerSocketChannel.class.asSubclass(channelType);
        }
        if (channelType == DatagramChannel.class) {
            return UcxDatagramChannel.class.asSubclass(channelType);
        }
        throw unsupported(channelType);
    }

    private static IllegalArgumentException unsupported(Class<?> channelType) {
        return new IllegalArgumentException("UCX has no " + channelType.getSimpleName()
                + "; only SocketChannel, ServerSocketChannel and DatagramChannel can be had. What needs another one can run"
                + " on NIO's loops: runOn(resources, false)");
    }

    /**
     * Ends the loops when it is subscribed to, and completes when they have ended. A further subscription waits for
     * the same.
     */
    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        Objects.requireNonNull(quietPeriod, "quietPeriod");
        Objects.requireNonNull(timeout, "timeout");
        return Mono.defer(() -> {
            List<Mono<Void>> ends = new ArrayList<>();
            synchronized (this) {
                disposed = true;
                if (nioEnd == null) {
                    // Reactor's own wait only for whoever has ended them.
                    nioEnd = nio.disposeLater(quietPeriod, timeout).cache();
                }
                ends.add(nioEnd);
                for (UcxEventLoopGroup group : new UcxEventLoopGroup[] {workers, selectors}) {
                    if (group != null) {
                        ends.add(end(group.shutdownGracefully(
                                quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS)));
                    }
                }
            }
            // The time is the loops' own, which end by themselves when it is over, and so a little later.
            return Mono.when(ends);
        });
    }

    @SuppressWarnings("unchecked")
    private static Mono<Void> end(Future<?> termination) {
        // Netty declares a future of anything; it is one of null.
        return FutureMono.from((Future<Void>) termination);
    }

    @Override
    public boolean isDisposed() {
        return disposed;
    }

    @Override
    public String toString() {
        return "UcxLoopResources{" + prefix + ", " + workerCount + " loops, " + waitStrategy + '}';
    }
}
