// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Some connections between two groups, which write to each other at the same time. Everything follows from the random
 * numbers.
 */
final class Transfer {

    /** Of the streams. */
    enum Size {
        SMALL, ANY, LARGE
    }

    /** How a connection ends. */
    private enum End {
        /** Each side ends its output. */
        HALF_CLOSE,
        /** The client closes when it has written and read everything. */
        CLIENT_CLOSES,
        /** The server does. */
        SERVER_CLOSES
    }

    private static final int KIB = 1024;
    private static final int MIB = 1024 * 1024;
    private static final long LARGEST = 64 * MIB;
    private static final int SECONDS = 60;

    private final SplittableRandom random;
    private final Size size;
    private final LeakWatch leaks = new LeakWatch();
    private final List<Side> sides = new ArrayList<>();
    /** The server's side of the connection that is being made. */
    private final AtomicReference<Side> accepting = new AtomicReference<>();
    private ExecutorService otherThread;

    Transfer(SplittableRandom random, Size size) {
        this.random = random;
        this.size = size;
    }

    void run() throws Exception {
        otherThread = Executors.newSingleThreadExecutor();
        int loops = random.nextInt(1, 3);
        try (Peers peers = new Peers(loops, random.nextInt(1, 3), waitStrategy())) {
            Channel listener = peers.listen(peers.server(ChannelInboundHandlerAdapter::new).handler(new Acceptor()));
            int connections = size == Size.LARGE ? 1 : random.nextInt(1, 5);
            for (int i = 0; i < connections; i++) {
                connect(peers, listener);
            }
            for (Side side : sides) {
                side.writer().start();
            }
            try {
                for (Side side : sides) {
                    side.await();
                }
            } catch (Throwable t) {
                // Before the loops' end changes it.
                throw new AssertionError("at the time of the failure: " + this, t);
            }
        } finally {
            otherThread.shutdown();
        }
        leaks.assertNothingLeft();
    }

    private UcxWaitStrategy waitStrategy() {
        return random.nextInt(4) == 0 ? UcxWaitStrategy.PARK : UcxWaitStrategy.ADAPTIVE;
    }

    private void connect(Peers peers, Channel listener) throws Exception {
        End end = End.values()[random.nextInt(End.values().length)];
        long upSeed = random.nextLong();
        long downSeed = random.nextLong();
        long up = streamSize();
        long down = size == Size.LARGE ? LARGEST - up : streamSize();
        Side server = new Side(end, end == End.SERVER_CLOSES, downSeed, down, upSeed, up);
        Side client = new Side(end, end == End.CLIENT_CLOSES, upSeed, up, downSeed, down);
        sides.add(server);
        sides.add(client);
        accepting.set(server);
        Bootstrap bootstrap = peers.client(client.handler());
        client.options().forEach((option, value) -> set(bootstrap, option, value));
        Peers.connect(bootstrap, listener);
        server.active.get(SECONDS, TimeUnit.SECONDS);
        client.active.get(SECONDS, TimeUnit.SECONDS);
    }

    @SuppressWarnings("unchecked")
    private static <T> void set(Bootstrap bootstrap, ChannelOption<T> option, Object value) {
        bootstrap.option(option, (T) value);
    }

    /** Makes a child what its side of the transfer wants it to be, before it is registered. */
    private final class Acceptor extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            Channel child = (Channel) message;
            Side side = accepting.get();
            child.config().setOptions(side.options());
            child.pipeline().addLast(side.handler());
            context.fireChannelRead(message);
        }
    }

    private long streamSize() {
        return switch (size) {
            case SMALL -> random.nextInt(3) == 0 ? 0 : random.nextInt(1, 3000);
            case LARGE -> LARGEST / 2 + random.nextInt(-MIB, MIB);
            case ANY -> switch (random.nextInt(6)) {
                case 0 -> random.nextInt(4);
                case 1, 2 -> random.nextInt(64 * KIB);
                case 3, 4 -> random.nextInt(2 * MIB);
                default -> random.nextInt(24 * MIB);
            };
        };
    }

    @Override
    public String toString() {
        return String.join("; ", sides.stream().map(Side::toString).toList());
    }

    /** One end of a connection. */
    private final class Side {

        private final End end;
        private final boolean closes;
        private final long written;
        private final long writtenSeed;
        private final SplittableRandom writing = random.split();
        private final StreamReader.Demand demand = StreamReader.Demand.values()[random.nextInt(3)];
        private final StreamReader reader;
        private final int window;
        private final RecvByteBufAllocator receiveAllocator;
        private final int writeSpins = random.nextInt(1, 17);
        private final boolean inLoop = random.nextBoolean();
        private final CompletableFuture<Void> active = new CompletableFuture<>();
        private UcxSocketChannel channel;
        private StreamWriter writer;

        Side(End end, boolean closes, long writtenSeed, long written, long readSeed, long read) {
            this.end = end;
            this.closes = closes;
            this.writtenSeed = writtenSeed;
            this.written = written;
            reader = new StreamReader(readSeed, read, demand, random.split());
            // Small windows make many small messages.
            window = 1 << (read > 256 * KIB ? random.nextInt(16, 24) : random.nextInt(12, 21));
            receiveAllocator = receiveAllocator(read);
        }

        private RecvByteBufAllocator receiveAllocator(long read) {
            int least = (int) Math.max(1, read / (8 * KIB));
            DefaultMaxMessagesRecvByteBufAllocator allocator = switch (random.nextInt(4)) {
                case 0 -> new FixedRecvByteBufAllocator(least);
                case 1 -> new FixedRecvByteBufAllocator(random.nextInt(least, MIB));
                default -> new AdaptiveRecvByteBufAllocator();
            };
            return allocator.maxMessagesPerRead(random.nextInt(1, 17));
        }

        Map<ChannelOption<?>, Object> options() {
            return Map.of(
                    ChannelOption.ALLOCATOR, leaks.allocator,
                    ChannelOption.SO_RCVBUF, window,
                    ChannelOption.ALLOW_HALF_CLOSURE, end == End.HALF_CLOSE,
                    ChannelOption.AUTO_READ, demand != StreamReader.Demand.MANUAL,
                    ChannelOption.WRITE_SPIN_COUNT, writeSpins,
                    ChannelOption.RCVBUF_ALLOCATOR, receiveAllocator);
        }

        ChannelHandler handler() {
            return new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext context) {
                    channel = (UcxSocketChannel) context.channel();
                    context.pipeline().addLast(reader);
                    context.fireChannelActive();
                    active.complete(null);
                }
            };
        }

        StreamWriter writer() {
            Executor executor = inLoop ? channel.eventLoop() : otherThread;
            long limit = random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextInt(1, 4 * MIB);
            writer = new StreamWriter(channel, executor, writtenSeed, written, limit, writing);
            if (end == End.HALF_CLOSE) {
                writer.submitted().thenRun(() -> channel.shutdownOutput());
                CompletableFuture.allOf(writer.done(), reader.ended()).thenRun(() -> channel.close());
            } else if (closes) {
                // On the writer's thread: from another one the close could overtake the writes.
                CompletableFuture.allOf(writer.submitted(), reader.received())
                        .thenRunAsync(() -> channel.close(), executor);
            }
            return writer;
        }

        void await() throws Exception {
            CompletableFuture<Void> finished = CompletableFuture.allOf(writer.done(), reader.ended());
            for (CompletableFuture<Void> part : List.of(writer.done(), reader.ended())) {
                // The other one may never complete.
                part.whenComplete((done, failure) -> {
                    if (failure != null) {
                        finished.completeExceptionally(failure);
                    }
                });
            }
            finished.get(SECONDS, TimeUnit.SECONDS);
            assertTrue(channel.closeFuture().await(SECONDS, TimeUnit.SECONDS), "not closed");
            assertTrue(Lane.current().has(channel.lane()), () -> "used lane " + channel.lane());
        }

        @Override
        public String toString() {
            return (closes ? "closing " : "") + channel + " " + end + ", lane "
                    + (channel == null ? null : channel.lane()) + ", window " + window + ", " + receiveAllocator
                    + ", in loop " + inLoop + ": " + writer + ", " + reader;
        }
    }
}
