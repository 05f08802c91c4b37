// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.DefaultFileRegion;
import io.netty.handler.stream.ChunkedFile;
import io.netty.handler.stream.ChunkedWriteHandler;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Files as messages. */
class FileTest {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final long SEED = 4711;
    private static final long SECONDS = 30;

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
}
