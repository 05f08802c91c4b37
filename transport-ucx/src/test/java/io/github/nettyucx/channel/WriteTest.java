// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What becomes of writes: their order, their promises, and how much of them the peer has to keep. */
class WriteTest {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final long SEED = 4711;
    private static final long SECONDS = 40;
    private static final int WINDOW = 64 * KIB;
    private static final int SMALL_WINDOW = 4 * KIB;
    /** A window takes four messages of the largest size, each with a charge of 64 bytes. */
    private static final int CHARGES = 4 * 64;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- promises

    @OnEachLane
    void promisesSucceedInTheOrderOfTheWritesWhateverTheirSizes() throws Exception {
        int count = 300;
        SplittableRandom random = new SplittableRandom(SEED);
        int[] sizes = IntStream.range(0, count).map(i -> switch (i % 3) {
            case 0 -> random.nextInt(1, KIB);
            case 1 -> random.nextInt(8 * KIB, 20 * KIB);
            default -> random.nextInt(64 * KIB, 400 * KIB);
        }).toArray();
        StreamReader reader = reader(IntStream.of(sizes).sum());
        Channel client = peers.connect(peers.listen(() -> reader), new Inbox());
        List<Integer> order = new CopyOnWriteArrayList<>();
        SeededBytes stream = new SeededBytes(SEED);
        long position = 0;
        ChannelFuture last = null;
        for (int i = 0; i < count; i++) {
            int number = i;
            ByteBuf bytes = Unpooled.wrappedBuffer(stream.at(position, sizes[i]));
            // From where it lies, by way of a copy, and in pieces.
            ByteBuf message = i % 2 == 0 ? bytes : direct(bytes);
            last = client.write(message).addListener(done -> order.add(number));
            position += sizes[i];
            if (random.nextInt(5) == 0) {
                client.flush();
            }
        }
        client.flush();
        Peers.await(last);
        // Whoever waits for a promise goes on before its listeners have been told.
        Peers.await(client.eventLoop().submit(() -> { }));
        assertEquals(IntStream.range(0, count).boxed().toList(), order);
        Peers.await(client.close());
        reader.ended().get(SECONDS, TimeUnit.SECONDS);
    }

    private static ByteBuf direct(ByteBuf bytes) {
        try {
            return Unpooled.directBuffer(bytes.readableBytes()).writeBytes(bytes);
        } finally {
            bytes.release();
        }
    }

    @OnEachLane
    void aCompositeGoesWholeWhateverItsComponentsAreReadTo() throws Exception {
        int part = 64 * KIB;
        int parts = 8;
        StreamReader reader = reader((long) parts * part);
        Channel client = peers.connect(peers.listen(() -> reader), new Inbox());
        SeededBytes stream = new SeededBytes(SEED);
        CompositeByteBuf composite = Unpooled.compositeBuffer();
        for (int i = 0; i < parts; i++) {
            ByteBuf component = direct(Unpooled.wrappedBuffer(stream.at((long) i * part, part)));
            composite.addComponent(true, component);
            // Such as a handler that has looked at a message's body.
            component.skipBytes(i * part / (parts - 1));
        }
        Peers.await(client.writeAndFlush(composite));
        reader.received().get(SECONDS, TimeUnit.SECONDS);
        Peers.await(client.close());
        reader.ended().get(SECONDS, TimeUnit.SECONDS);
    }

    /** As with Netty's own transports: an application may use its array again when {@code write} has returned. */
    @OnEachLane
    void anArrayThatIsUsedAgainIsSentAsItWasWritten() throws Exception {
        int writes = 20;
        int length = 10 * KIB;
        StreamReader reader = reader((long) writes * length);
        // With a window that is full soon.
        Channel server = peers.listen(peers.server(() -> reader).childOption(ChannelOption.SO_RCVBUF, WINDOW));
        Channel client = peers.connect(server, new Inbox());
        SeededBytes stream = new SeededBytes(SEED);
        Peers.await(client.eventLoop().submit(() -> {
            byte[] array = new byte[length];
            CompositeByteBuf composite = Unpooled.compositeBuffer();
            for (int i = 0; i < writes; i++) {
                System.arraycopy(stream.at((long) i * length, length), 0, array, 0, length);
                ByteBuf wrapped = Unpooled.wrappedBuffer(array);
                client.write(i < writes - 1 ? wrapped : composite.addComponent(true, wrapped));
                client.write(Unpooled.wrappedBuffer(array, 0, 0));
            }
            Arrays.fill(array, (byte) 0);
            client.flush();
        }));
        reader.received().get(SECONDS, TimeUnit.SECONDS);
        Peers.await(client.close());
        reader.ended().get(SECONDS, TimeUnit.SECONDS);
    }

    @OnEachLane
    void aWriteCanBeCancelledUntilItIsFlushedAndNotAfterwards() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        Channel client = peers.connect(server, new Inbox());
        ByteBuf second = text("second, ");
        ByteBuf held = Unpooled.directBuffer(1);
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(client.eventLoop().submit(() -> {
            writes.add(client.write(text("first, ")));
            writes.add(client.write(second));
            writes.add(client.write(text("third")));
            assertTrue(writes.get(1).cancel(false));
            client.flush();
            // More than the window, which keeps its promise open.
            writes.add(client.write(held.writeZero(2 * WINDOW)));
            client.flush();
            assertFalse(writes.get(3).cancel(false));
        }));
        assertEquals(0, second.refCnt());
        child.awaitActive().config().setAutoRead(true);
        Peers.await(writes.get(3));
        assertEquals(0, held.refCnt());
        Peers.await(client.close());
        child.awaitInactive();
        assertEquals("first, third" + "\0".repeat(2 * WINDOW), child.text());
    }

    @OnEachLane
    void writesNeedNoPromise() throws Exception {
        StreamReader reader = reader(MIB);
        Channel client = peers.connect(peers.listen(() -> reader), new Inbox());
        SeededBytes stream = new SeededBytes(SEED);
        for (int i = 0; i < KIB; i++) {
            client.write(Unpooled.wrappedBuffer(stream.at((long) i * KIB, KIB)), client.voidPromise());
        }
        client.flush();
        reader.received().get(SECONDS, TimeUnit.SECONDS);
        Peers.await(client.close());
    }

    @OnEachLane
    void threadsCanWriteWithoutTheLoop() throws Exception {
        int threads = 4;
        int writes = 2000;
        Numbers numbers = new Numbers(threads, writes);
        Channel client = peers.connect(peers.listen(() -> numbers), new Inbox());
        List<Thread> writers = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            writers.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < writes; i++) {
                    client.writeAndFlush(Unpooled.directBuffer(8).writeInt(thread).writeInt(i));
                }
            }));
        }
        for (Thread writer : writers) {
            writer.join();
        }
        Peers.await(client.close());
        numbers.awaitInactive();
        assertEquals(List.of(), numbers.exceptions());
        assertEquals(threads * writes, numbers.count);
    }

    /** Pairs of a thread's number and the number of its write. */
    private static final class Numbers extends Inbox {

        private final int[] next;
        private final int writes;
        private final ByteBuf rest = Unpooled.buffer();
        private volatile int count;

        Numbers(int threads, int writes) {
            next = new int[threads];
            this.writes = writes;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            rest.discardReadBytes().writeBytes(bytes);
            bytes.release();
            while (rest.readableBytes() >= 8) {
                int thread = rest.readInt();
                int number = rest.readInt();
                assertEquals(next[thread]++, number, () -> "of thread " + thread);
                assertTrue(number < writes);
                count = count + 1;
            }
        }
    }

    // ------------------------------------------------------------------------------------------- nothing

    /** As HTTP's encoder writes it behind the last bytes of a message. */
    @OnEachLane
    void anEmptyWriteNeedsNoRoomAtThePeer() throws Exception {
        Inbox child = new Inbox();
        Channel client = connectAndFillTheWindow(child);
        Peers.await(client.writeAndFlush(Unpooled.EMPTY_BUFFER));
        assertEquals("", child.text());
        child.awaitActive().config().setAutoRead(true);
        child.awaitText("\0".repeat(SMALL_WINDOW - CHARGES));
    }

    @OnEachLane
    void aCloseBehindAnEmptyWriteIsInOrderForAPeerThatReadsLater() throws Exception {
        Inbox child = new Inbox();
        Channel client = connectAndFillTheWindow(child);
        client.writeAndFlush(Unpooled.EMPTY_BUFFER);
        Peers.await(client.close());
        assertEquals("", child.text());
        child.awaitActive().config().setAutoRead(true);
        child.awaitInactive();
        assertEquals(List.of(), child.exceptions());
        assertEquals("\0".repeat(SMALL_WINDOW - CHARGES), child.text());
    }

    /** A peer that does not read, and has no room over a link for another byte. */
    private Channel connectAndFillTheWindow(Inbox child) throws Exception {
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, SMALL_WINDOW));
        Channel client = peers.connect(server, new Inbox());
        int length = SMALL_WINDOW - CHARGES;
        Peers.await(client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length)));
        return client;
    }

    // ------------------------------------------------------------------------------------------- how much

    /** A kernel has buffers of its own on both sides, and is not so exact. */
    @OnEachLane(linksOnly = true)
    void whatAPausedPeerDoesNotReadStaysWithTheSender() throws Exception {
        int size = KIB;
        int count = 4 * WINDOW / size;
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        Channel client = peers.connect(server, new Inbox());
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            writes.add(client.write(Unpooled.directBuffer(size).writeZero(size)));
        }
        client.flush();
        Channel accepted = child.awaitActive();
        // Until nothing moves any more; whatever more time there were, it could only be less than asserted.
        long sent;
        long before = -1;
        while ((sent = writes.stream().filter(ChannelFuture::isSuccess).count() * size) != before || sent == 0) {
            before = sent;
            // Both loops have had their turns then, however long one of them stood still.
            Peers.await(client.eventLoop().schedule(() -> { }, 200, TimeUnit.MILLISECONDS));
            Peers.await(accepted.eventLoop().schedule(() -> { }, 200, TimeUnit.MILLISECONDS));
        }
        assertTrue(sent <= WINDOW, "sent " + sent + " bytes to a peer with a window of " + WINDOW);
        assertEquals("", child.text());
        accepted.config().setAutoRead(true);
        Peers.await(writes.getLast());
        Peers.await(client.close());
        child.awaitInactive();
        assertEquals(count * size, child.text().length());
    }

    @OnEachLane
    void theWritabilityFollowsTheWaterMarks() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        BlockingQueue<Boolean> changes = new LinkedBlockingQueue<>();
        Channel client = Peers.connect(peers.client(new Inbox() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext context) {
                changes.add(context.channel().isWritable());
            }
        }).option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(32 * KIB, 64 * KIB)), server);
        assertTrue(client.isWritable());
        // In one turn of the loop: between two turns the first of them may have been sent, and it be writable again.
        ChannelFuture write = Peers.await(client.eventLoop().submit(() -> {
            // More than a kernel's socket takes as well.
            for (int i = 0; i < 1023; i++) {
                client.writeAndFlush(Unpooled.directBuffer(16 * KIB).writeZero(16 * KIB));
            }
            return client.writeAndFlush(Unpooled.directBuffer(16 * KIB).writeZero(16 * KIB));
        })).getNow();
        assertEquals(false, changes.poll(SECONDS, TimeUnit.SECONDS));
        assertFalse(client.isWritable());
        child.awaitActive().config().setAutoRead(true);
        assertEquals(true, changes.poll(SECONDS, TimeUnit.SECONDS));
        Peers.await(write);
        assertTrue(client.isWritable());
        assertEquals(0, changes.size());
    }

    /** A small message goes out with little credit left, as long as nothing else has been flushed. */
    @OnEachLane(linksOnly = true)
    void whatHasNotBeenFlushedHoldsNothingBack() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        UcxSocketChannel client = peers.connect(server, new Inbox());
        // All but a few KiB of the window, in messages of a quarter of it at most.
        int rest = 3 * KIB;
        for (int left = WINDOW - rest - 8 * 64; left > 0; left -= 8 * KIB) {
            int size = Math.min(left, 8 * KIB);
            Peers.await(client.writeAndFlush(Unpooled.directBuffer(size).writeZero(size)));
        }
        ChannelFuture small = Peers.await(client.eventLoop().submit(() -> {
            ChannelFuture flushed = client.write(Unpooled.directBuffer(100).writeZero(100));
            client.unsafe().outboundBuffer().addFlush();
            client.write(Unpooled.directBuffer(WINDOW).writeZero(WINDOW));
            client.continueWriting();
            return flushed;
        })).getNow();
        Peers.await(small);
        child.awaitActive().config().setAutoRead(true);
        Peers.await(client.close());
    }

    @OnEachLane
    void bytesCanBeReadOneByOne() throws Exception {
        int length = 4 * KIB;
        StreamReader reader = reader(length);
        Channel server = peers.listen(peers.server(() -> reader)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(1)));
        Channel client = peers.connect(server, new Inbox());
        client.writeAndFlush(Unpooled.wrappedBuffer(new SeededBytes(SEED).at(0, length)));
        reader.received().get(SECONDS, TimeUnit.SECONDS);
        Peers.await(client.close());
        reader.ended().get(SECONDS, TimeUnit.SECONDS);
    }

    @OnEachLane(timeoutSeconds = 120)
    void aCloseDeliversAQuarterOfAGibibyte() throws Exception {
        int pieces = 256;
        StreamReader reader = reader((long) pieces * MIB);
        Channel client = peers.connect(peers.listen(() -> reader), new Inbox());
        SeededBytes stream = new SeededBytes(SEED);
        for (int i = 0; i < pieces; i++) {
            client.write(Unpooled.wrappedBuffer(stream.at((long) i * MIB, MIB)));
        }
        client.flush();
        ChannelFuture close = client.close();
        reader.ended().get(SECONDS, TimeUnit.SECONDS);
        Peers.await(close);
    }

    private static StreamReader reader(long length) {
        return new StreamReader(SEED, length, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
