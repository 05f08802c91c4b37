// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.ArrayRegion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.handler.stream.ChunkedFile;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.ReferenceCountUtil;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Files as messages. */
class FileTest {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final long SEED = 4711;
    private static final long SECONDS = 30;
    /** Before a close gives up, 10 s; a busy machine may take most of that. */
    private static final long PROMPTLY_MILLIS = 8000;

    private static Path file(int length) throws IOException {
        Path file = Files.createTempFile("netty-ucx-", ".test");
        Files.write(file, new SeededBytes(SEED).at(0, length));
        return file;
    }

    private static StreamReader reader(int length) {
        return new StreamReader(SEED, length, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
    }

    @OnEachLane
    void aFileArrives() throws Exception {
        Path path = file(8 * MIB);
        StreamReader reader = reader(8 * MIB);
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(reader));
            Channel client = peers.connect(server, pipeline -> { });
            DefaultFileRegion region = new DefaultFileRegion(path.toFile(), 0, 8 * MIB);
            Peers.await(client.writeAndFlush(region));
            assertEquals(0, region.refCnt());
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    /** A handler that has caught an InterruptedException often marks its thread again. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aFileArrivesThoughItsLoopWasInterruptedBeforeItsLastSleep() throws Exception {
        Path path = file(8 * MIB);
        StreamReader reader = reader(8 * MIB);
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(reader));
            Channel client = peers.connect(server, pipeline -> { });
            client.eventLoop().execute(() -> Thread.currentThread().interrupt());
            // Time for the loop to sleep in.
            Peers.await(client.eventLoop().schedule(() -> { }, 50, TimeUnit.MILLISECONDS));
            Peers.await(client.writeAndFlush(new DefaultFileRegion(path.toFile(), 0, 8 * MIB)));
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    /** So does one whose loop never sleeps: a sleep would have removed the mark. */
    @OnEachLane
    void aFileArrivesThoughItsLoopIsInterrupted() throws Exception {
        Path path = file(8 * MIB);
        StreamReader reader = reader(8 * MIB);
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(reader));
            Channel client = peers.connect(server, pipeline -> { });
            List<ChannelFuture> writes = new ArrayList<>();
            Peers.await(client.eventLoop().submit(() -> {
                Thread.currentThread().interrupt();
                writes.add(client.writeAndFlush(new DefaultFileRegion(path.toFile(), 0, 8 * MIB)));
            }));
            Peers.await(writes.get(0));
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    @OnEachLane
    void aFileArrivesInChunks() throws Exception {
        Path path = file(8 * MIB);
        StreamReader reader = reader(8 * MIB);
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(reader));
            Channel client = peers.connect(server, pipeline -> pipeline.addLast(new ChunkedWriteHandler()));
            Peers.await(client.writeAndFlush(new ChunkedFile(path.toFile(), 10_000)));
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    @OnEachLane
    void aFileTellsItsProgressBehindAnEmptyWrite() throws Exception {
        assertAFileTellsItsProgressBehind(client -> client.write(Unpooled.EMPTY_BUFFER));
    }

    @OnEachLane
    void aFileTellsItsProgressBehindACancelledWrite() throws Exception {
        assertAFileTellsItsProgressBehind(client -> {
            ChannelFuture write = client.write(Unpooled.copiedBuffer("cancelled", StandardCharsets.US_ASCII));
            assertTrue(write.cancel(false));
            return write;
        });
    }

    /** @param nothing writes something that sends no bytes, and does not flush */
    private static void assertAFileTellsItsProgressBehind(Function<Channel, ChannelFuture> nothing) throws Exception {
        Path path = file(MIB);
        StreamReader reader = reader(MIB);
        List<String> told = new CopyOnWriteArrayList<>();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(reader));
            Channel client = peers.connect(server, pipeline -> { });
            ChannelProgressivePromise written = client.newProgressivePromise();
            written.addListener(new ChannelProgressiveFutureListener() {
                @Override
                public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
                    told.add(progress + " of " + total);
                }

                @Override
                public void operationComplete(ChannelProgressiveFuture future) {
                    told.add("file");
                }
            });
            Peers.await(client.eventLoop().submit(() -> {
                nothing.apply(client).addListener(done -> told.add("nothing"));
                client.writeAndFlush(new DefaultFileRegion(path.toFile(), 0, MIB), written);
            }));
            Peers.await(written);
            // Whoever waits for a promise goes on before its listeners have been told.
            Peers.await(client.eventLoop().submit(() -> { }));
            assertEquals("nothing", told.getFirst());
            assertEquals(List.of(MIB + " of " + MIB, "file"), told.subList(told.size() - 2, told.size()));
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    /** What has been taken from the file has not been sent: nobody must be told so. */
    @OnEachLane
    void aFileWhoseProgressClosesTheChannelFails() throws Exception {
        assertAFileFailsWhoseProgressClosesItsChannel(-1);
    }

    @OnEachLane
    void aFileWhoseProgressResetsTheChannelFails() throws Exception {
        assertAFileFailsWhoseProgressClosesItsChannel(0);
    }

    @OnEachLane
    void aFileWhoseProgressClosesTheChannelThatLingersFails() throws Exception {
        assertAFileFailsWhoseProgressClosesItsChannel(1);
    }

    private static void assertAFileFailsWhoseProgressClosesItsChannel(int lingerSeconds) throws Exception {
        // All of it fits into a pipe.
        int length = 512 * KIB;
        Path path = file(length);
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(peers.server(Inbox::new).childOption(ChannelOption.SO_RCVBUF, 64 * KIB)
                    .childOption(ChannelOption.AUTO_READ, false));
            UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                    .option(ChannelOption.SO_SNDBUF, 64 * KIB).option(ChannelOption.SO_LINGER, lingerSeconds)
                    .option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 200)
                    .connect(server.localAddress())).channel();
            ChannelProgressivePromise written = client.newProgressivePromise();
            List<Long> told = new CopyOnWriteArrayList<>();
            written.addListener(new ChannelProgressiveFutureListener() {
                @Override
                public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
                    told.add(progress);
                    client.close();
                }

                @Override
                public void operationComplete(ChannelProgressiveFuture future) {
                    // Awaited below.
                }
            });
            client.writeAndFlush(new DefaultFileRegion(path.toFile(), 0, length), written);
            Throwable failure = Peers.awaitFailure(written);
            assertInstanceOf(IOException.class, failure);
            // What is flushed before a close is delivered as far as the peer takes it.
            assertTrue(told.getLast() < length, "the file has been sent");
            Peers.await(client.closeFuture());
        } finally {
            Files.delete(path);
        }
    }

    /** As with NIO and epoll: the write fails and closes the channel, which is no reset for the peer. */
    @OnEachLane
    void aFileThatIsShorterThanWasSaidArrivesAsFarAsItGoes() throws Exception {
        int length = 300 * KIB;
        Path path = file(length);
        Inbox child = new Inbox();
        Inbox inbox = new Inbox();
        try (Peers peers = new Peers()) {
            Channel client = peers.connect(peers.listen(() -> child), inbox);
            ChannelFuture before = client.write(client.alloc().directBuffer(1).writeByte('!'));
            File file = path.toFile();
            ChannelFuture write = client.writeAndFlush(new DefaultFileRegion(file, 0, 2 * length));
            Throwable failure = Peers.awaitFailure(write);
            assertInstanceOf(IOException.class, failure);
            Throwable cause = failure.getMessage() == null ? failure.getCause() : failure;
            assertTrue(cause.getMessage().contains("Underlying file size " + length), failure::toString);
            Peers.await(before);
            Peers.await(client.closeFuture());
            child.awaitInactive();
            assertEquals(List.of(), child.exceptions());
            assertEquals(1 + length, child.text().length());
        } finally {
            Files.delete(path);
        }
    }

    /** What failed is this side's: the peer is there, and must not take what comes next for the rest of the file. */
    @OnEachLane
    void aFileThatIsTooShortClosesAChannelThatHasSomethingToRead() throws Exception {
        int length = 300 * KIB;
        Path path = file(length);
        Inbox child = new Inbox();
        try (Peers peers = new Peers()) {
            UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                    .option(ChannelOption.AUTO_READ, false)
                    .connect(peers.listen(() -> child).localAddress())).channel();
            Peers.await(child.awaitActive().writeAndFlush(Unpooled.copiedBuffer("unread", StandardCharsets.US_ASCII)));
            Eventually.await(15_000, () -> "nothing arrives",
                    () -> client.eventLoop().submit(() -> client.connection().lane().isReadable()).get());
            ChannelFuture write = client.write(new DefaultFileRegion(path.toFile(), 0, 2 * length));
            ChannelFuture next = client.writeAndFlush(Unpooled.copiedBuffer("next", StandardCharsets.US_ASCII));
            assertInstanceOf(IOException.class, Peers.awaitFailure(write));
            Peers.awaitFailure(next);
            Peers.await(client.closeFuture());
            child.awaitInactive();
            assertFalse(child.text().contains("next"), "what followed the file arrives in its place");
        } finally {
            Files.delete(path);
        }
    }

    /** Their completions have to be taken though nothing more is sent. A kernel has taken its bytes when it has, and delivers them by itself. */
    @OnEachLane(linksOnly = true)
    void aCloseWaitsForTheCopiesOfABrokenFileThatAreOnTheirWayAndNoLonger() throws Exception {
        int length = 16 * MIB;
        Path path = file(length);
        AtomicLong received = new AtomicLong();
        Inbox child = new Inbox() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                received.addAndGet(((ByteBuf) message).readableBytes());
                ReferenceCountUtil.release(message);
            }
        };
        CountDownLatch goOn = new CountDownLatch(1);
        try (Peers peers = new Peers()) {
            // It does not close by itself, and there is credit for more than is sent while its loop stands still.
            Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_RCVBUF, length)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
            UcxSocketChannel client = peers.connect(server, new Inbox());
            child.awaitActive().eventLoop().submit(() -> goOn.await(SECONDS, TimeUnit.SECONDS));
            long start = System.nanoTime();
            BreakingFile file = new BreakingFile(path.toFile(), length, () -> {
                if (client.metrics().sendsDeferred() >= 3) {
                    goOn.countDown();
                    throw new IOException("the disk is gone");
                }
            });
            Throwable failure = Peers.awaitFailure(client.writeAndFlush(file));
            assertEquals("the disk is gone", failure.getMessage());
            Peers.await(client.closeFuture());
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis < PROMPTLY_MILLIS, () -> "closed after " + millis + " ms");
            child.awaitInputShutdown();
            assertEquals(client.metrics().bytesSent(), received.get());
        } finally {
            goOn.countDown();
            Files.delete(path);
        }
    }

    /** Nobody empties its target meanwhile: that would be done by the thread that waits here. */
    @OnEachLane
    void aRegionThatDoesNotReturnBeforeAllIsWrittenFails() throws Exception {
        Path path = file(2 * MIB);
        try (Peers peers = new Peers()) {
            Inbox child = new Inbox();
            UcxServerSocketChannel server = peers.listen(() -> child);
            UcxSocketChannel client = peers.connect(server, new Inbox());
            StubbornFile small = new StubbornFile(path.toFile(), 16 * 1024);
            Peers.await(client.writeAndFlush(small));
            assertEquals(16 * 1024, small.transferred());
            Throwable failure = Peers.awaitFailure(client.writeAndFlush(new StubbornFile(path.toFile(), 2 * MIB)));
            assertTrue(failure instanceof IOException && failure.getMessage().contains("transferTo has to return"),
                    failure::toString);
            Peers.await(client.closeFuture());
            child.awaitInactive();
            // The loop goes on.
            Peers.await(peers.connect(server, new Inbox()).close());
        } finally {
            Files.delete(path);
        }
    }

    /** Writes as if its target were a file. */
    private static final class StubbornFile extends DefaultFileRegion {

        private static final int FOR_EVER = 1_000_000;

        private final Path path;
        private final int length;
        private long written;

        StubbornFile(File file, int length) {
            super(file, 0, length);
            path = file.toPath();
            this.length = length;
        }

        @Override
        public long transferred() {
            return written;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(path), (int) position, length - (int) position);
            int vain = 0;
            while (all.hasRemaining()) {
                vain = target.write(all) == 0 ? vain + 1 : 0;
                if (vain == FOR_EVER) {
                    throw new IllegalStateException("it would write for ever");
                }
            }
            written = length;
            return length - position;
        }
    }

    /** A socket of the kernel's takes as much of such a region, however little its peer can take at the moment. */
    @OnEachLane
    void aRegionThatKnowsItsLengthOnlyRoughlyArrives() throws Exception {
        int count = 300;
        Inbox child = new Inbox();
        Inbox inbox = new Inbox();
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_RCVBUF, 4 * KIB));
            Channel client = peers.connect(server, inbox);
            StringBuilder expected = new StringBuilder();
            ChannelFuture last = null;
            for (int i = 0; i < count; i++) {
                String text = (char) ('a' + i % 26) + "-".repeat(700 + i) + "\n";
                expected.append(text).append(i);
                client.write(new RoughRegion(text.getBytes(StandardCharsets.ISO_8859_1)));
                last = client.writeAndFlush(Unpooled.copiedBuffer(Integer.toString(i), StandardCharsets.ISO_8859_1));
            }
            Peers.await(last);
            child.awaitText(expected.toString());
            assertEquals(List.of(), inbox.exceptions());
        }
    }

    /** Says how much there is until it has begun to write, as if all were gone then, as Spark's encrypted messages do. */
    private static final class RoughRegion extends ArrayRegion {

        private final ByteBuffer bytes;
        private boolean begun;
        private long transferred;

        RoughRegion(byte[] bytes) {
            super(bytes, bytes.length);
            this.bytes = ByteBuffer.wrap(bytes);
        }

        @Override
        public long count() {
            return begun ? 0 : bytes.capacity();
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            assertEquals(transferred, position);
            begun = true;
            target.write(bytes);
            long told = bytes.hasRemaining() ? 1 : bytes.capacity() - transferred;
            transferred += told;
            return told;
        }

        @Override
        public long transferred() {
            return transferred;
        }
    }

    private interface Disk {
        void access() throws IOException;
    }

    private static final class BreakingFile extends DefaultFileRegion {

        private final Disk disk;

        BreakingFile(File file, long length, Disk disk) {
            super(file, 0, length);
            this.disk = disk;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            disk.access();
            return super.transferTo(target, position);
        }
    }
}
