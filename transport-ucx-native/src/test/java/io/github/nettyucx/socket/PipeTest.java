// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a file gets to a socket. */
@Timeout(60)
class PipeTest {

    private static final int SIZE = 10 << 20;

    @TempDir
    Path directory;

    private static byte[] content() {
        byte[] content = new byte[SIZE];
        new Random(7).nextBytes(content);
        return content;
    }

    private FileChannel file(byte[] content) throws IOException {
        return FileChannel.open(Files.write(directory.resolve("file"), content));
    }

    @Test
    void whatIsReadIsTakenOut() throws Exception {
        byte[] content = content();
        try (FileChannel file = file(content); Pipe pipe = Pipe.open(); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1000);
            assertEquals(-Errno.EAGAIN, pipe.read(memory.address(), 1000));
            assertEquals(1500, file.transferTo(17, 1500, pipe.target()));
            assertEquals(1000, pipe.read(memory.address(), 1000));
            assertEquals(-1, memory.mismatch(MemorySegment.ofArray(Arrays.copyOfRange(content, 17, 1017))));
            assertEquals(500, pipe.read(memory.address(), 1000));
            assertEquals(-1, memory.asSlice(0, 500).mismatch(MemorySegment.ofArray(Arrays.copyOfRange(content, 1017, 1517))));
            assertEquals(-Errno.EAGAIN, pipe.read(memory.address(), 1000));
        }
    }

    /** By one thread, so that anything that blocked would block for ever. */
    @Test
    void aFileArrivesByteByByte() throws Exception {
        byte[] content = content();
        try (FileChannel file = file(content); Pipe pipe = Pipe.open(); SocketPair pair = SocketPair.open()) {
            MemorySegment received = pair.memory(SIZE);
            int position = 0;
            int inPipe = 0;
            int full = 0;
            for (int in = 0; in < SIZE;) {
                // More than once before the pipe is empty, as a loop may do that has other things to do.
                long n = file.transferTo(position, SIZE - position, pipe.target());
                position += (int) n;
                inPipe += (int) n;
                int spliced = inPipe == 0 ? 0 : pair.client.spliceFrom(pipe, inPipe);
                if (spliced > 0) {
                    inPipe -= spliced;
                } else {
                    if (inPipe > 0) {
                        assertEquals(-Errno.EAGAIN, spliced);
                        full++;
                    }
                    SocketPair.await(pair.server, Epoll.IN);
                    // Not everything, so that the socket fills up again.
                    in += receive(pair, received, in, Math.min(300_000, SIZE - in));
                }
            }
            assertEquals(SIZE, position);
            assertEquals(0, inPipe);
            assertEquals(-1, received.mismatch(MemorySegment.ofArray(content)));
            assertNotEquals(0, full, "the socket was never full");
        }
    }

    private static int receive(SocketPair pair, MemorySegment memory, int offset, int length) {
        int n = pair.server.receive(memory.address() + offset, length);
        assertTrue(n > 0, () -> "receive answers " + n);
        return n;
    }

    @Test
    void anEmptyPipeHasNothingNow() throws Exception {
        try (Pipe pipe = Pipe.open(); SocketPair pair = SocketPair.open()) {
            assertEquals(-Errno.EAGAIN, pair.client.spliceFrom(pipe, 4096));
            pipe.target().write(ByteBuffer.wrap(new byte[] {'x', 'y'}));
            assertEquals(2, pair.client.spliceFrom(pipe, 4096));
            assertEquals(-Errno.EAGAIN, pair.client.spliceFrom(pipe, 4096));
            assertEquals("xy", pair.receive(pair.server, 2));
        }
    }

    @Test
    void aFullPipeTakesNothingMore() throws Exception {
        try (FileChannel file = file(content()); Pipe pipe = Pipe.open()) {
            long taken = 0;
            long n;
            while ((n = file.transferTo(taken, SIZE - taken, pipe.target())) > 0) {
                taken += n;
            }
            assertEquals(0, n);
            assertTrue(taken > 0 && taken < SIZE, "taken: " + taken);
            assertEquals(0, pipe.target().write(ByteBuffer.allocateDirect(8192)));
        }
    }

    /** Otherwise Java would map the file, and write. */
    @Test
    void aTransferIsDirect() throws Exception {
        byte[] content = content();
        try (FileChannel file = file(content); Pipe pipe = Pipe.open(); SocketPair pair = SocketPair.open()) {
            long taken = Seccomp.refusing(Errno.EIO, () -> file.transferTo(4096, 8192, pipe.target()),
                    Seccomp.WRITE, Seccomp.WRITEV, Seccomp.PWRITE64);
            assertEquals(8192, taken);
            assertEquals(8192, pair.client.spliceFrom(pipe, 8192));
            MemorySegment received = pair.memory(8192);
            for (int in = 0; in < 8192;) {
                SocketPair.await(pair.server, Epoll.IN);
                in += receive(pair, received, in, 8192 - in);
            }
            assertEquals(-1, received.mismatch(MemorySegment.ofArray(content).asSlice(4096, 8192)));
            assertThrows(Exception.class, () -> Seccomp.refusing(Errno.EIO,
                    () -> file.transferTo(0, 8192, pipe.target()), Seccomp.SENDFILE));
        }
    }

    /** The channel's own descriptor is another one than the pipe's, with flags of its own. */
    @Test
    void noEndBlocks() throws Exception {
        try (Pipe pipe = Pipe.open()) {
            String link = Pipe.link(pipe.writeFd());
            assertTrue(link.startsWith("pipe:["), link);
            int ofChannel = Pipe.find(link, pipe.readFd(), pipe.writeFd());
            assertEquals(link, Pipe.link(ofChannel));
            for (int fd : new int[] {pipe.readFd(), pipe.writeFd(), ofChannel}) {
                String flags = Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(fd))).stream()
                        .filter(line -> line.startsWith("flags:")).findFirst().orElseThrow();
                int value = Integer.parseInt(flags.substring("flags:".length()).trim(), 8);
                assertNotEquals(0, value & SocketConstants.O_NONBLOCK, "descriptor " + fd + ", " + flags);
            }
        }
    }

    @Test
    void aPeerThatIsGoneIsAnErrorAndNoSignal() throws Exception {
        try (Pipe pipe = Pipe.open(); SocketPair pair = SocketPair.open()) {
            pair.server.resetOnClose();
            pair.server.close();
            SocketPair.await(pair.client, Epoll.RDHUP);
            assertEquals(Errno.ECONNRESET, pair.client.pendingError());
            pipe.target().write(ByteBuffer.wrap(new byte[] {'x'}));
            assertEquals(-Errno.EPIPE, pair.client.spliceFrom(pipe, 1));
        }
    }

    @Test
    void aClosedPipeLeavesNothingBehind() throws Exception {
        int before = descriptors();
        int pipes = 100;
        for (int i = 0; i < pipes; i++) {
            Pipe pipe = Pipe.open();
            FileChannel target = pipe.target();
            pipe.close();
            pipe.close();
            assertFalse(target.isOpen());
            assertEquals(-1, pipe.readFd());
            assertEquals(-1, pipe.writeFd());
            try (SocketPair pair = SocketPair.open()) {
                assertEquals(-Errno.EBADF, pair.client.spliceFrom(pipe, 1));
            }
        }
        assertTrue(descriptors() - before < pipes / 2, () -> "descriptors: " + descriptors());
    }

    private static int descriptors() {
        return Objects.requireNonNull(Path.of("/proc/self/fd").toFile().list()).length;
    }
}
