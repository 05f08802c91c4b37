// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.WorkerCounter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The program of {@link RegisteredTest}, started with memory registered on all links: transfers, buffers that are
 * released after their loop's end, and connections that are closed with sends in flight. Nothing may stay registered,
 * and no memory be left.
 */
final class RegisteredMain {

    static final String PASSED = "passed";

    private static final int PIECE = 200_000;
    private static final int PIECES = 40;
    private static final int PART = PIECE / 4;

    private RegisteredMain() {
    }

    /** @param arguments the seed, and how many transfers; or the least size of what is sent from where it lies */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            copiedBelow(Integer.parseInt(arguments[0]));
        } else {
            transferAndEnd(arguments);
        }
        System.out.println(PASSED);
        System.exit(0);
    }

    private static void transferAndEnd(String[] arguments) throws Exception {
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[0]));
        for (int i = Integer.parseInt(arguments[1]); i > 0; i--) {
            long seed = random.nextLong();
            try {
                new Transfer(new SplittableRandom(seed), Transfer.Size.ANY).run();
            } catch (Throwable t) {
                throw new AssertionError("failed with seed " + seed, t);
            }
            checkNothingLeft("after transfer " + seed);
        }
        releasedLate();
        closedInFlight();
    }

    private static void copiedBelow(int bound) throws Exception {
        AtomicLong received = new AtomicLong();
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(() -> new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    received.addAndGet(((ByteBuf) message).readableBytes());
                    ((ByteBuf) message).release();
                }
            });
            UcxSocketChannel client = peers.connect(server, new ChannelInboundHandlerAdapter());
            long copied = registeredOperations(peers, client, received, bound - 1);
            check(copied == PIECES, copied + " of " + PIECES + " buffers below the bound were copied");
            long copiedAtTheBound = registeredOperations(peers, client, received, bound);
            check(copiedAtTheBound == 0, copiedAtTheBound + " of " + PIECES + " buffers at the bound were copied");
        }
        checkNothingLeft("after the sizes");
    }

    /** @return how many of the messages went from memory that the client's loop has registered */
    private static long registeredOperations(Peers peers, UcxSocketChannel client, AtomicLong received, int size)
            throws Exception {
        UcxEventLoopGroup clients = (UcxEventLoopGroup) peers.clientGroup;
        long before = clients.metrics().worker(WorkerCounter.REGISTERED_OPERATIONS);
        long expected = received.get() + (long) PIECES * size;
        for (int i = 0; i < PIECES; i++) {
            // One at a time: several would be copied together.
            Peers.await(client.writeAndFlush(UnpooledByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size)));
        }
        Eventually.await(60_000, () -> received + " bytes have come of " + expected, () -> received.get() >= expected);
        return clients.metrics().worker(WorkerCounter.REGISTERED_OPERATIONS) - before;
    }

    private static void releasedLate() throws Exception {
        Queue<ByteBuf> kept = new ConcurrentLinkedQueue<>();
        AtomicLong received = new AtomicLong();
        UcxMetrics metrics;
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(() -> new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    kept.add((ByteBuf) message);
                    received.addAndGet(((ByteBuf) message).readableBytes());
                }
            });
            UcxSocketChannel client = peers.connect(server, new ChannelInboundHandlerAdapter());
            for (int i = 0; i < PIECES; i++) {
                // Each part by way of a send buffer.
                for (int left = PIECE; left > 0; left -= PART) {
                    client.write(filled(i, PART));
                }
                Peers.await(client.writeAndFlush(Unpooled.EMPTY_BUFFER));
            }
            Eventually.await(60_000, () -> received + " bytes have come of " + (long) PIECES * PIECE,
                    () -> received.get() >= (long) PIECES * PIECE);
            metrics = UcxMetrics.sum(List.of(((UcxEventLoopGroup) peers.serverGroup).metrics(),
                    ((UcxEventLoopGroup) peers.clientGroup).metrics()));
        }
        check(metrics.worker(WorkerCounter.MEMORY_REGISTERED) > 0, "nothing was registered");
        check(metrics.worker(WorkerCounter.REGISTERED_OPERATIONS) >= PIECES, "nothing went through registered memory");
        check(used() > 0, "the buffers are not of the pool");
        int position = 0;
        for (ByteBuf buffer : kept) {
            // At once: the watch for leaks notes each look into a buffer, with a stack trace.
            byte[] bytes = ByteBufUtil.getBytes(buffer);
            for (byte found : bytes) {
                byte expected = (byte) (position / PIECE);
                if (found != expected) {
                    throw new AssertionError("byte " + position + " is " + found);
                }
                position++;
            }
        }
        Thread.ofPlatform().start(() -> kept.forEach(ByteBuf::release)).join();
        checkNothingLeft("after a late release");
    }

    private static ByteBuf filled(int number, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) number);
        return Unpooled.wrappedBuffer(bytes);
    }

    private static void closedInFlight() throws Exception {
        for (boolean reset : new boolean[] {true, false}) {
            UcxEventLoopGroup serverGroup;
            UcxEventLoopGroup clientGroup;
            try (Peers peers = new Peers()) {
                serverGroup = (UcxEventLoopGroup) peers.serverGroup;
                clientGroup = (UcxEventLoopGroup) peers.clientGroup;
                ChannelHandler deaf = new ChannelInboundHandlerAdapter();
                Channel server = peers.listen(peers.server(ChannelInboundHandlerAdapter::new)
                        .childOption(ChannelOption.AUTO_READ, false));
                UcxSocketChannel client = peers.connect(server, deaf);
                client.config().setSoLinger(0);
                for (int i = 0; i < PIECES; i++) {
                    client.write(filled(i, PIECE));
                }
                client.flush();
                if (reset) {
                    Peers.await(client.close());
                }
            }
            for (UcxEventLoopGroup group : new UcxEventLoopGroup[] {serverGroup, clientGroup}) {
                check(group.metrics().worker(WorkerCounter.MEMORY_REGISTERED)
                        == group.metrics().worker(WorkerCounter.MEMORY_UNREGISTERED), "memory stays registered");
            }
            checkNothingLeft("closed in flight");
        }
    }

    private static long used() {
        return UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
    }

    private static void checkNothingLeft(String when) {
        check(used() == 0, when + " " + used() + " bytes are left");
    }

    private static void check(boolean condition, String problem) {
        if (!condition) {
            throw new AssertionError(problem);
        }
    }
}
