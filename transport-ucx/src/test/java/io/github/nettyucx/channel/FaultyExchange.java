// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client asks, a server answers, the client ends its output, both close; and on one side something throws. What the
 * two notice of it is the result, and the same for every transport.
 */
// RecvByteBufAllocator.Handle is deprecated for users, not for tests.
@SuppressWarnings("deprecation")
final class FaultyExchange {

    private static final int SECONDS = 15;
    /** After the fault: for what still happens, or does not. */
    private static final long SETTLE_MILLIS = 300;
    /** And so many turns of each loop, which may have been late all the time. */
    private static final int SETTLE_TURNS = 4;
    private static final int QUESTION = 42;
    /** More than the water mark. */
    private static final int LENGTH = 4096;

    private static final class Boom extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static final class BigBoom extends Error {
        private static final long serialVersionUID = 1;
    }

    private final Fault fault;
    private final boolean faultOnServer;
    private final EventLoopGroup group;
    private final Class<? extends ServerChannel> serverType;
    private final Class<? extends Channel> clientType;
    private final ByteBufAllocator allocator;
    private final AtomicInteger thrown = new AtomicInteger();
    private final Side server = new Side("server");
    private final Side client = new Side("client");
    private final CountDownLatch firstThrow = new CountDownLatch(1);
    private final EventExecutorGroup executor = new DefaultEventExecutorGroup(1);

    FaultyExchange(Fault fault, boolean faultOnServer, EventLoopGroup group, Class<? extends ServerChannel> serverType,
                   Class<? extends Channel> clientType, ByteBufAllocator allocator) {
        this.fault = fault;
        this.faultOnServer = faultOnServer;
        this.group = group;
        this.serverType = serverType;
        this.clientType = clientType;
        this.allocator = allocator;
    }

    boolean hasThrown() {
        return thrown.get() > 0;
    }

    /** What one side notices. Each thing once: how often something is read is the transport's business. */
    private static final class Side {

        final String name;
        final Set<String> events = new LinkedHashSet<>();
        final CompletableFuture<Channel> channel = new CompletableFuture<>();
        final CompletableFuture<Void> answered = new CompletableFuture<>();

        Side(String name) {
            this.name = name;
        }

        synchronized void add(String event) {
            events.add(event);
        }

        synchronized boolean contains(String event) {
            return events.contains(event);
        }

        /**
         * The peer has closed on its own before it read anything. Whether that is seen as the end of its output or as a
         * reset depends on whether the question was there before the close, over TCP as well.
         */
        synchronized void forgetHowThePeerClosed() {
            if (events.contains("ChannelInputShutdownEvent") || events.contains("closed before the end")) {
                events.add("peer's close noticed");
            }
            events.removeAll(Set.of("ChannelInputShutdownEvent", "ChannelInputShutdownReadComplete",
                    "ChannelOutputShutdownEvent", "open at the end", "closed before the end", "question sent",
                    "question not sent"));
            events.removeIf(event -> event.startsWith("caught ") && !event.endsWith("Boom"));
        }

        @Override
        public synchronized String toString() {
            // Sorted: in which order an exception and the next read are seen depends on how the bytes were cut.
            return name + ' ' + new TreeSet<>(events);
        }
    }

    // ------------------------------------------------------------------------------------------- the run

    String answer() throws InterruptedException {
        run();
        return client.events.contains("read all") ? "client read" : "nothing";
    }

    String run() throws InterruptedException {
        ServerBootstrap accepting = new ServerBootstrap().group(group).channel(serverType)
                .option(ChannelOption.RCVBUF_ALLOCATOR, acceptAllocator())
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(64, 128))
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, receiveAllocator(true))
                .childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, estimator(true))
                .childHandler(initializer(server, true));
        Bootstrap connecting = new Bootstrap().group(group).channel(clientType)
                .option(ChannelOption.ALLOCATOR, allocator)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(64, 128))
                .option(ChannelOption.RCVBUF_ALLOCATOR, receiveAllocator(false))
                .option(ChannelOption.MESSAGE_SIZE_ESTIMATOR, estimator(false))
                .handler(initializer(client, false));
        if (clientType == UcxSocketChannel.class) {
            // The socket is what is left where a fault closes the channel before its handshake is over.
            String lanes = fault == Fault.NONE ? Lane.current().toString() : Lane.current().orSocket();
            accepting.childOption(UcxChannelOption.LANES, lanes);
            connecting.option(UcxChannelOption.LANES, lanes);
        }
        Channel listening = accepting.bind(Peers.loopback(0)).sync().channel();
        ChannelFuture connect = connecting.connect(listening.localAddress());
        if (!connect.await(SECONDS, TimeUnit.SECONDS)) {
            return "the connect hangs";
        }
        client.add(connect.isSuccess() ? "connected" : "not connected");
        Channel channel = connect.channel();
        awaitAnswerOrFault(channel);
        if (channel.isActive()) {
            ChannelFuture ended = ((SocketChannel) channel).shutdownOutput();
            if (!ended.await(SECONDS, TimeUnit.SECONDS)) {
                client.add("the end of the output hangs");
            }
            settle(SETTLE_MILLIS);
        }
        Channel child = server.channel.getNow(null);
        boolean open = child != null && child.isOpen();
        server.add(open ? "open at the end" : "closed before the end");
        client.add(channel.isOpen() ? "open at the end" : "closed before the end");
        closeAll(channel, child, listening);
        executor.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        if (faultOnServer && server.contains("closed before the end") && !server.contains("active")) {
            client.forgetHowThePeerClosed();
        }
        return server + ", " + client;
    }

    private void closeAll(Channel channel, Channel child, Channel listening) throws InterruptedException {
        for (Channel each : new Channel[] {channel, child, listening}) {
            if (each != null) {
                each.close();
                // A handler whose close() throws has kept it from the transport.
                if (!each.closeFuture().await(SETTLE_MILLIS, TimeUnit.MILLISECONDS)) {
                    each.pipeline().firstContext().close();
                }
                if (!each.closeFuture().await(SECONDS, TimeUnit.SECONDS)) {
                    throw new AssertionError(each + " does not close");
                }
            }
        }
        // What follows from a close is told a turn later.
        settle(SETTLE_MILLIS / 3);
    }

    private void settle(long millis) throws InterruptedException {
        // That nothing more happens cannot be waited for. With NIO's loops it is the same time.
        Thread.sleep(millis);
        for (int i = 0; i < SETTLE_TURNS; i++) {
            for (EventExecutor loop : group) {
                Peers.await(loop.submit(() -> { }));
            }
        }
    }

    private void awaitAnswerOrFault(Channel channel) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!client.answered.isDone() && !isFaultOver(channel) && System.nanoTime() - deadline < 0) {
            // Between two looks: a fault may leave nobody who could tell.
            Thread.sleep(1);
        }
        settle(SETTLE_MILLIS);
    }

    /** What a loop gets does not keep it from trying again, as long as there is a connection. */
    private boolean isFaultOver(Channel channel) {
        Channel child = server.channel.getNow(channel);
        return firstThrow.getCount() == 0 && (!fault.isTheLoops() || !channel.isOpen() || !child.isOpen());
    }

    // ------------------------------------------------------------------------------------------- what throws

    private void maybe(Fault here, boolean onServer) {
        if (fault == here && faultOnServer == onServer && thrown.getAndIncrement() == 0) {
            firstThrow.countDown();
            throw new Boom();
        }
    }

    private ChannelInitializer<Channel> initializer(Side side, boolean onServer) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                side.channel.complete(channel);
                channel.closeFuture().addListener(future -> {
                    maybe(Fault.CLOSE_LISTENER, onServer);
                });
                maybe(Fault.INITIALIZER, onServer);
                channel.pipeline().addLast(new Thrower(onServer));
                boolean elsewhere = fault == Fault.REJECTING_EXECUTOR && onServer == faultOnServer;
                channel.pipeline().addLast(elsewhere ? executor : null, new Recorder(side, onServer));
            }
        };
    }

    private final class Thrower extends ChannelDuplexHandler {

        private final boolean onServer;

        Thrower(boolean onServer) {
            this.onServer = onServer;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            maybe(Fault.HANDLER_ADDED, onServer);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            maybe(Fault.HANDLER_REMOVED, onServer);
        }

        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_REGISTERED, onServer);
            context.fireChannelRegistered();
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_UNREGISTERED, onServer);
            context.fireChannelUnregistered();
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_ACTIVE, onServer);
            context.fireChannelActive();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_INACTIVE, onServer);
            context.fireChannelInactive();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            try {
                maybe(Fault.CHANNEL_READ, onServer);
                maybe(Fault.EXCEPTION_CAUGHT, onServer);
                if (fault == Fault.REJECTING_EXECUTOR && onServer == faultOnServer) {
                    reject(context, message);
                    return;
                }
                if (fault == Fault.ERROR_IN_CHANNEL_READ && onServer == faultOnServer
                        && thrown.getAndIncrement() == 0) {
                    firstThrow.countDown();
                    throw new BigBoom();
                }
                if (fault == Fault.STACK_OVERFLOW_IN_CHANNEL_READ && onServer == faultOnServer
                        && thrown.getAndIncrement() == 0) {
                    firstThrow.countDown();
                    sink(1);
                }
            } catch (Throwable t) {
                ReferenceCountUtil.release(message);
                throw t;
            }
            context.fireChannelRead(message);
        }

        private void reject(ChannelHandlerContext context, Object message) {
            // So that what came before has been dealt with.
            executor.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            thrown.incrementAndGet();
            firstThrow.countDown();
            // Throws, and leaves the message to its caller.
            context.fireChannelRead(message);
        }

        private int sink(int depth) {
            return depth + sink(depth + 1);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_READ_COMPLETE, onServer);
            context.fireChannelReadComplete();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            maybe(Fault.USER_EVENT_TRIGGERED, onServer);
            context.fireUserEventTriggered(event);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            maybe(Fault.CHANNEL_WRITABILITY_CHANGED, onServer);
            context.fireChannelWritabilityChanged();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (fault == Fault.EXCEPTION_CAUGHT && cause instanceof Boom) {
                throw new Boom();
            }
            context.fireExceptionCaught(cause);
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            try {
                maybe(Fault.WRITE, onServer);
            } catch (Boom e) {
                ReferenceCountUtil.release(message);
                throw e;
            }
            context.write(message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            maybe(Fault.FLUSH, onServer);
            context.flush();
        }

        @Override
        public void read(ChannelHandlerContext context) {
            maybe(Fault.READ, onServer);
            context.read();
        }

        @Override
        public void close(ChannelHandlerContext context, ChannelPromise promise) {
            maybe(Fault.CLOSE, onServer);
            context.close(promise);
        }
    }

    private RecvByteBufAllocator receiveAllocator(boolean onServer) {
        return new FixedRecvByteBufAllocator(1024) {
            @Override
            public Handle newHandle() {
                maybe(Fault.NEW_HANDLE, onServer);
                RecvByteBufAllocator.ExtendedHandle handle = (RecvByteBufAllocator.ExtendedHandle) super.newHandle();
                return new FaultyHandle(handle, onServer);
            }
        };
    }

    private RecvByteBufAllocator acceptAllocator() {
        RecvByteBufAllocator real = new ServerChannelRecvByteBufAllocator();
        return () -> {
            maybe(Fault.NEW_HANDLE_OF_LISTENER, true);
            return real.newHandle();
        };
    }

    private final class FaultyHandle extends RecvByteBufAllocator.DelegatingHandle
            implements RecvByteBufAllocator.ExtendedHandle {

        private final boolean onServer;

        FaultyHandle(RecvByteBufAllocator.ExtendedHandle delegate, boolean onServer) {
            super(delegate);
            this.onServer = onServer;
        }

        @Override
        public void reset(ChannelConfig config) {
            maybe(Fault.HANDLE_RESET, onServer);
            super.reset(config);
        }

        @Override
        public boolean continueReading(io.netty.util.UncheckedBooleanSupplier more) {
            return ((RecvByteBufAllocator.ExtendedHandle) delegate()).continueReading(more);
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            maybe(Fault.RECEIVE_ALLOCATOR, onServer);
            // What NIO's allocate does; other transports ask for the guess alone.
            maybe(Fault.RECEIVE_GUESS, onServer);
            return super.allocate(alloc);
        }

        @Override
        public void lastBytesRead(int bytes) {
            if (bytes > 0) {
                maybe(Fault.RECEIVE_COUNT, onServer);
            }
            super.lastBytesRead(bytes);
        }

        @Override
        public int guess() {
            maybe(Fault.RECEIVE_GUESS, onServer);
            maybe(Fault.RECEIVE_ALLOCATOR, onServer);
            return super.guess();
        }
    }

    private MessageSizeEstimator estimator(boolean onServer) {
        MessageSizeEstimator.Handle real = DefaultMessageSizeEstimator.DEFAULT.newHandle();
        return () -> message -> {
            maybe(Fault.SIZE_ESTIMATOR, onServer);
            return real.size(message);
        };
    }

    // ------------------------------------------------------------------------------------------- what is noticed

    private final class Recorder extends ChannelInboundHandlerAdapter {

        private final Side side;
        private final boolean onServer;
        private int read;

        Recorder(Side side, boolean onServer) {
            this.side = side;
            this.onServer = onServer;
        }

        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            side.add("registered");
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            side.add("unregistered");
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            side.add("active");
            if (!onServer) {
                context.channel().writeAndFlush(
                        context.alloc().directBuffer(LENGTH).writeZero(LENGTH - 1).writeByte(QUESTION))
                        .addListener(listener("question"));
            }
        }

        private ChannelFutureListener listener(String what) {
            return future -> {
                side.add(what + (future.isSuccess() ? " sent" : " not sent"));
                maybe(Fault.WRITE_LISTENER, onServer);
            };
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            side.add("inactive");
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            read += buffer.readableBytes();
            buffer.release();
            if (read == LENGTH) {
                side.add("read all");
                if (onServer) {
                    context.channel().writeAndFlush(
                            context.alloc().directBuffer(LENGTH).writeZero(LENGTH)).addListener(listener("answer"));
                } else {
                    side.answered.complete(null);
                }
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            side.add(event.getClass().getSimpleName());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            Throwable reason = cause.getCause() instanceof Boom ? cause.getCause() : cause;
            side.add("caught " + reason.getClass().getSimpleName());
        }
    }
}
