// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Pipe;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What becomes of files that are written to a lane. */
class SocketFileTest {

    private static final int MIB = 1024 * 1024;

    @TempDir
    Path directory;

    private LanePair pair;
    private LaneEnd end;
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();

    @BeforeEach
    void connect() throws IOException {
        pair = new LanePair(8 * 1024, 64 * 1024);
        end = pair.farLane();
    }

    @AfterEach
    void disconnect() throws IOException {
        pair.close();
    }

    private File file(byte[] content) throws IOException {
        return Files.write(directory.resolve("file"), content).toFile();
    }

    private void send() throws IOException {
        pair.await("everything to be sent", () -> {
            Raw.receive(pair.near, received);
            try {
                return end.write() == Written.DRAINED;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private void awaitExpected() throws IOException {
        pair.await("all bytes", () -> {
            Raw.receive(pair.near, received);
            return received.size() >= expected.size();
        });
        assertArrayEquals(expected.toByteArray(), received.toByteArray());
    }

    @Test
    void aFileOfSeveralMebibytesArrives() throws IOException {
        byte[] content = Raw.bytes(5 * MIB + 17, 1);
        FileRegion region = new DefaultFileRegion(file(content), 0, content.length);
        ChannelPromise promise = end.add(region);
        expected.writeBytes(content);
        send();
        assertTrue(promise.isSuccess());
        assertEquals(0, region.refCnt());
        assertEquals(content.length, region.transferred());
        awaitExpected();
    }

    @Test
    void aPartOfAnOpenFileArrivesBetweenOtherBytes() throws IOException {
        byte[] content = Raw.bytes(MIB, 2);
        Path file = file(content).toPath();
        end.add(Unpooled.copiedBuffer("before".getBytes()));
        end.add(new DefaultFileRegion(FileChannel.open(file, StandardOpenOption.READ), 4097, 300_001));
        end.add(new DefaultFileRegion(FileChannel.open(file, StandardOpenOption.READ), 1, 1));
        end.add(Unpooled.copiedBuffer("after".getBytes()));
        expected.writeBytes("before".getBytes());
        expected.writeBytes(Arrays.copyOfRange(content, 4097, 304_098));
        expected.write(content[1]);
        expected.writeBytes("after".getBytes());
        send();
        awaitExpected();
    }

    @Test
    void anEmptyFileIsDoneWithoutACall() throws Exception {
        ChannelPromise promise = end.add(new DefaultFileRegion(file(new byte[0]), 0, 0));
        assertEquals(Written.DRAINED, end.write());
        assertTrue(promise.isSuccess());
        assertEquals(0, end.traffic.sent().sum());
    }

    @Test
    void aFileThatIsShorterThanWasSaidFailsAfterItsBytes() throws IOException {
        byte[] content = Raw.bytes(MIB, 3);
        ChannelPromise promise = end.add(new DefaultFileRegion(file(content), 0, MIB + 1));
        expected.writeBytes(content);
        IOException[] failure = new IOException[1];
        pair.await("the failure", () -> {
            Raw.receive(pair.near, received);
            try {
                end.write();
            } catch (IOException e) {
                failure[0] = e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            return failure[0] != null;
        });
        assertTrue(failure[0].getMessage().startsWith("Underlying file size"), failure[0].getMessage());
        assertFalse(promise.isDone());
        awaitExpected();
        assertTrue(end.lane.isOpen());
    }

    @Test
    void aFileThatIsNotThereFails() {
        end.add(new DefaultFileRegion(directory.resolve("nothing").toFile(), 0, 10));
        IOException failure = assertThrows(IOException.class, end::write);
        assertTrue(failure instanceof FileNotFoundException || failure instanceof NoSuchFileException, failure::toString);
        assertTrue(end.lane.isOpen());
    }

    @Test
    void aRegionThatIsNoFileIsCopied() throws IOException {
        byte[] content = Raw.bytes(3 * SendBufferPool.CAPACITY + 5, 4);
        ChannelPromise promise = end.add(new ArrayRegion(content, 40_000));
        expected.writeBytes(content);
        send();
        assertTrue(promise.isSuccess());
        awaitExpected();
    }

    @Test
    void aRegionThatGivesNothingIsAskedAgain() throws Exception {
        ArrayRegion region = new ArrayRegion(new byte[10], 0);
        ChannelPromise promise = end.add(region);
        assertEquals(Written.AGAIN, end.write());
        assertFalse(promise.isDone());
        region.atOnce = 10;
        assertEquals(Written.DRAINED, end.write());
        assertTrue(promise.isSuccess());
    }

    @Test
    void aRegionThatFailsTellsWhy() throws Exception {
        ArrayRegion region = new ArrayRegion(new byte[10], 10);
        region.failure = new IllegalStateException("as ordered");
        end.add(region);
        assertSame(region.failure, assertThrows(IllegalStateException.class, end::write));
        region.failure = null;
        assertEquals(Written.DRAINED, end.write());
    }

    @Test
    void filesAreCopiedWhereThereAreNoPipes() throws IOException {
        pair.engine.pipes().close();
        assertNull(pair.engine.pipes().acquire());
        byte[] content = Raw.bytes(MIB, 5);
        end.add(new DefaultFileRegion(file(content), 0, content.length));
        expected.writeBytes(content);
        send();
        awaitExpected();
    }

    @Test
    void aPipeIsUsedAgainWhenItIsEmpty() throws IOException {
        Pipe pipe = pair.engine.pipes().acquire();
        pair.engine.pipes().release(pipe);
        byte[] content = Raw.bytes(MIB, 6);
        end.add(new DefaultFileRegion(file(content), 0, content.length));
        expected.writeBytes(content);
        send();
        assertSame(pipe, pair.engine.pipes().acquire());
        pair.engine.pipes().release(pipe);
        awaitExpected();
    }

    @Test
    void aPipeThatIsNotEmptyIsNotUsedAgain() throws Exception {
        Pipe pipe = pair.engine.pipes().acquire();
        pair.engine.pipes().release(pipe);
        byte[] content = Raw.bytes(5 * MIB, 7);
        end.add(new DefaultFileRegion(file(content), 0, content.length));
        while (end.write() == Written.AGAIN) {
            // Until the kernel's buffers are full.
        }
        end.lane.close(false);
        Pipe other = pair.engine.pipes().acquire();
        assertNotSame(pipe, other);
        pair.engine.pipes().release(other);
    }

    @Test
    void aPeerThatResetsAmidAFileIsLost() throws Exception {
        byte[] content = Raw.bytes(5 * MIB, 8);
        ChannelPromise promise = end.add(new DefaultFileRegion(file(content), 0, content.length));
        while (end.write() == Written.AGAIN) {
            // Until the kernel's buffers are full.
        }
        pair.near.resetOnClose();
        pair.near.close();
        pair.await("the reset", () -> end.lost != null);
        assertEquals(Written.WAITING, end.write());
        assertFalse(promise.isDone());
    }
}
