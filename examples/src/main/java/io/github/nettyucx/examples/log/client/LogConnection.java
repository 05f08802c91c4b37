// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.MessageCodec;
import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;

/** A connection to a broker, for any number of producers and consumers. Any thread may call. */
public final class LogConnection implements AutoCloseable {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final long SHUTDOWN_SECONDS = 5;
    private static final String CLOSED = "the connection to the broker has been closed";
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LogConnection.class);

    private final EventLoopGroup group;
    private final TransportKind transport;
    private final Channel channel;
    private final ConnectionHandler handler;

    private LogConnection(EventLoopGroup group, TransportKind transport, Channel channel, ConnectionHandler handler) {
        this.group = group;
        this.transport = transport;
        this.channel = channel;
        this.handler = handler;
    }

    /**
     * Blocks for up to 10 s.
     *
     * @throws ExampleFailure saying why, if there is no connection to be had
     */
    public static LogConnection open(TransportKind transport, HostAndPort broker) {
        return open(transport, broker, CONNECT_TIMEOUT);
    }

    /**
     * The same.
     *
     * @param patience how long it may take; more than 10 s count as 10 s
     */
    public static LogConnection open(TransportKind transport, HostAndPort broker, Duration patience) {
        transport.ensureAvailable();
        var address = broker.resolve();
        var group = transport.newEventLoopGroup(1);
        var handler = new ConnectionHandler();
        // By Netty 0 would be no limit.
        var limit = (int) Math.clamp(patience.toMillis(), 1, CONNECT_TIMEOUT.toMillis());
        var connecting = new Bootstrap()
                .group(group)
                .channel(transport.socketChannel())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, limit)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        MessageCodec.addTo(connection.pipeline());
                        connection.pipeline().addLast(handler);
                    }
                })
                .connect(address)
                .awaitUninterruptibly();
        if (!connecting.isSuccess()) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
            throw new ExampleFailure("cannot connect to the broker at " + broker + ": "
                    + Explanation.of(connecting.cause()), connecting.cause());
        }
        return new LogConnection(group, transport, connecting.channel(), handler);
    }

    // ------------------------------------------------------------------------------------------- what it does

    /**
     * Makes the topic if there is none.
     *
     * @return the number of its first partition; the others follow
     */
    public Future<Integer> openTopic(String name, int partitions) {
        return ask(request -> new Message.OpenTopic(request, partitions, name), answer -> ((Message.Topic) answer).first());
    }

    /** A producer whose records go as messages. */
    public Producer messageProducer(int partition) {
        return new MessageProducer(this, partition);
    }

    /** A producer that writes into the segment itself. Fails if others do, and may not. */
    public Future<Producer> memoryProducer(int partition, AccessMode mode) {
        return mode == AccessMode.EXCLUSIVE ? new ExclusiveProducer(this, partition).open()
                : new SharedProducer(this, partition).open();
    }

    /** A consumer that asks for records by message. */
    public MessageConsumer messageConsumer(int partition, long offset) {
        return messageConsumer(partition, offset, MessageConsumer.MAX_BYTES);
    }

    /** @param maxBytes asked for at once, if one record has no more */
    public MessageConsumer messageConsumer(int partition, long offset, int maxBytes) {
        return new MessageConsumer(this, partition, offset, maxBytes);
    }

    /**
     * A consumer that reads the broker's memory.
     *
     * @param offsets where to begin, of consecutive partitions
     */
    public Future<MemoryConsumer> memoryConsumer(int firstPartition, List<Long> offsets) {
        return memoryConsumer(firstPartition, offsets, MessageConsumer.MAX_BYTES);
    }

    /** @param maxBytes read at once of a partition, if one record has no more */
    public Future<MemoryConsumer> memoryConsumer(int firstPartition, List<Long> offsets, int maxBytes) {
        return new MemoryConsumer(this, firstPartition, offsets, maxBytes).open();
    }

    /** Which broker leads, as the one that is asked knows it. */
    public Future<Message.Leader> findLeader() {
        return ask(Message.FindLeader::new, Message.Leader.class::cast);
    }

    // ------------------------------------------------------------------------------------------- for a leader

    /** Has the broker follow whoever has this connection. Fails if it knows of a later epoch. */
    public Future<Void> follow(long epoch, String cluster) {
        return ask(request -> new Message.Follow(request, epoch, cluster), _ -> null);
    }

    /**
     * Has a follower cut off what the leader does not have.
     *
     * @param end the offset behind the leader's last record
     * @return the offset behind the last record that is left
     */
    public Future<Long> adopt(int partition, long end, List<EpochHistory.Entry> epochs) {
        return ask(request -> new Message.Adopt(request, partition, end, epochs), answer -> ((Message.Adopted) answer).next());
    }

    // ------------------------------------------------------------------------------------------- what there is

    public Future<Message.Statistics> statistics() {
        return ask(Message.AskStatistics::new, Message.Statistics.class::cast);
    }

    /** Whether anything can be asked. Whoever has been told that the connection has ended, or failed, finds that it has. */
    public boolean isOpen() {
        return channel.isActive() && handler.isOpen();
    }

    /**
     * Has a task run by the event loop, on which futures of this connection are told.
     *
     * @throws RejectedExecutionException if the connection has been closed
     */
    public void execute(Runnable task) {
        try {
            loop().execute(task);
        } catch (RejectedExecutionException e) {
            throw new RejectedExecutionException(CLOSED, e);
        }
    }

    /** The same, later. */
    public void schedule(Runnable task, long nanos) {
        try {
            loop().schedule(task, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            throw new RejectedExecutionException(CLOSED, e);
        }
    }

    /** What carries its bytes. */
    public String lane() {
        return transport.lane(channel);
    }

    // ------------------------------------------------------------------------------------------- for those of the package

    EventExecutor loop() {
        return channel.eventLoop();
    }

    Channel channel() {
        return channel;
    }

    ConnectionHandler handler() {
        return handler;
    }

    /** Of what this connection does. When its event loop has ended, who listens is told by another one. */
    <T> Promise<T> newPromise() {
        return new DefaultPromise<>(loop()) {
            @Override
            protected EventExecutor executor() {
                var loop = super.executor();
                return loop.isShutdown() ? GlobalEventExecutor.INSTANCE : loop;
            }
        };
    }

    /** @param message makes the request of its number */
    Future<Message.Answer> ask(IntFunction<Message> message) {
        Promise<Message.Answer> promise = newPromise();
        return run(promise, () -> handler.ask(message, promise));
    }

    interface Mapping<R> {
        R apply(Message.Answer answer) throws Exception;
    }

    /** The same, of something that is made of the answer. */
    <R> Future<R> ask(IntFunction<Message> message, Mapping<R> mapping) {
        Promise<R> promise = newPromise();
        return run(promise, () -> ask(message).addListener((Future<Message.Answer> answered) -> {
            if (!answered.isSuccess()) {
                promise.tryFailure(answered.cause());
                return;
            }
            try {
                promise.trySuccess(mapping.apply(answered.getNow()));
            } catch (Throwable e) {
                // Also for want of memory: nobody else tells whoever waits.
                promise.tryFailure(e);
            }
        }));
    }

    /** Some forms of what there is are not for other threads. */
    void requireLoop() {
        if (!loop().inEventLoop()) {
            throw new IllegalStateException("this form is for the connection's event loop only; other threads use the one"
                    + " that answers with a future");
        }
    }

    /** Whoever waits for a promise is told by it. */
    static Producer.Acknowledgement telling(Promise<Long> promise) {
        return (_, offset, cause) -> {
            if (cause == null) {
                promise.trySuccess(offset);
            } else {
                promise.tryFailure(cause);
            }
        };
    }

    /** What he throws who is told is not the others' matter. */
    static void tell(Producer.Acknowledgement told, long id, long offset, Throwable cause) {
        try {
            told.done(id, offset, cause);
        } catch (Throwable e) {
            logger.warn("Who was told of a record has thrown an exception.", e);
        }
    }

    /** Has the event loop do something that a promise tells of. If the connection has been closed, that tells so. */
    <T> Future<T> run(Promise<T> promise, Runnable task) {
        return run(promise, task, () -> { });
    }

    /** @param otherwise is run if the task is not */
    <T> Future<T> run(Promise<T> promise, Runnable task, Runnable otherwise) {
        if (loop().inEventLoop()) {
            task.run();
            return promise;
        }
        var call = new Call(task, () -> {
            otherwise.run();
            promise.tryFailure(new IOException(CLOSED));
        });
        try {
            loop().execute(call);
        } catch (RejectedExecutionException e) {
            call.refuse();
            return promise;
        }
        if (loop().isShuttingDown()) {
            // Of what it takes in its last moments the loop drops some.
            loop().terminationFuture().addListener(_ -> call.refuse());
        }
        return promise;
    }

    /** Is run or refused, once. */
    private static final class Call extends AtomicBoolean implements Runnable {
        private final transient Runnable task;
        private final transient Runnable refusal;

        Call(Runnable task, Runnable refusal) {
            this.task = task;
            this.refusal = refusal;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                task.run();
            }
        }

        void refuse() {
            if (compareAndSet(false, true)) {
                refusal.run();
            }
        }
    }

    Future<UcxRemoteMemory> openMemory(byte[] key) {
        return ((UcxSocketChannel) channel).openMemory(key);
    }

    /** Everything that is under way fails, and everything that comes later, at once. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
