// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A pipe, by which the bytes of a file get to a socket without being copied: {@link FileChannel#transferTo} puts them
 * into {@link #target()}, and {@link KernelSocket#spliceFrom} takes them out. {@link #read} copies them, once, from the
 * kernel's memory. Neither end blocks. For one thread at a time.
 */
public final class Pipe implements AutoCloseable {
    /** What an ordinary user may have. It is the kernel's default where that was refused. */
    private static final int WANTED_CAPACITY = 1 << 20;
    private static final int NONE = -1;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private final FileChannel target;
    private int readFd;
    private int writeFd;

    private Pipe(int readFd, int writeFd, FileChannel target) {
        this.readFd = readFd;
        this.writeFd = writeFd;
        this.target = target;
    }

    public static Pipe open() throws IOException {
        CallState state = CallState.current();
        Errno.check("pipe2", SocketFunctions.pipe2(
                state, state.address(CallState.STRUCT), SocketConstants.O_CLOEXEC | SocketConstants.O_NONBLOCK));
        int readFd = state.memory.get(JAVA_INT, CallState.STRUCT);
        int writeFd = state.memory.get(JAVA_INT, CallState.STRUCT + Integer.BYTES);
        FileChannel target = null;
        try {
            SocketFunctions.fcntl(state, writeFd, SocketConstants.F_SETPIPE_SZ, WANTED_CAPACITY);
            target = openTarget(state, readFd, writeFd);
            return new Pipe(readFd, writeFd, target);
        } catch (Throwable t) {
            if (target != null) {
                target.close();
            }
            SocketFunctions.close(state, writeFd);
            SocketFunctions.close(state, readFd);
            throw t;
        }
    }

    /**
     * Opens the write end once more, as a channel of Java's. What is opened so blocks, and Java has no option against
     * it, so its descriptor is looked for and told not to.
     */
    private static FileChannel openTarget(CallState state, int readFd, int writeFd) throws IOException {
        String pipe = link(writeFd);
        // The kernel takes the lowest number that is free; somebody else may be faster.
        int guess = SocketFunctions.dup(state, readFd);
        if (guess >= 0) {
            SocketFunctions.close(state, guess);
        }
        FileChannel target = FileChannel.open(path(writeFd), StandardOpenOption.WRITE);
        try {
            int fd = pipe.equals(link(guess)) ? guess : find(pipe, readFd, writeFd);
            Errno.check("fcntl(F_SETFL)", SocketFunctions.fcntl(
                    state, fd, SocketConstants.F_SETFL, SocketConstants.O_WRONLY | SocketConstants.O_NONBLOCK));
            return target;
        } catch (Throwable t) {
            target.close();
            throw t;
        }
    }

    /** The third descriptor of the pipe. */
    static int find(String pipe, int readFd, int writeFd) throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                int fd = Integer.parseInt(descriptor.getFileName().toString());
                if (fd != readFd && fd != writeFd && pipe.equals(link(fd))) {
                    return fd;
                }
            }
        }
        throw new IOException("the descriptor of " + pipe + " was not found");
    }

    /** What a descriptor is, such as "pipe:[4711]"; "" if it is none. */
    static String link(int fd) {
        try {
            return Files.readSymbolicLink(path(fd)).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private static Path path(int fd) {
        return DESCRIPTORS.resolve(Integer.toString(fd));
    }

    /** The read end's descriptor, -1 once it is closed. */
    public int readFd() {
        return readFd;
    }

    /** The write end's descriptor, -1 once it is closed. For tests: who writes has the {@link #target()}. */
    int writeFd() {
        return writeFd;
    }

    /**
     * The write end. {@link FileChannel#transferTo} of a file to it is {@code sendfile(2)}, and answers with 0 when the
     * pipe is full. Closed together with this.
     */
    public FileChannel target() {
        return target;
    }

    /**
     * Takes bytes out.
     *
     * @param address of the memory that they are written to
     * @param length  how many bytes at most
     * @return how many there were, or the negative error number: {@code -EAGAIN} if the pipe is empty
     */
    public int read(long address, int length) {
        CallState state = CallState.current();
        int n;
        do {
            n = SocketFunctions.read(state, readFd, address, length);
        } while (n == -Errno.EINTR);
        return n;
    }

    /** Once, or more than once. What is in it is lost. */
    @Override
    public void close() {
        if (readFd == NONE) {
            return;
        }
        CallState state = CallState.current();
        SocketFunctions.close(state, writeFd);
        SocketFunctions.close(state, readFd);
        writeFd = NONE;
        readFd = NONE;
        try {
            target.close();
        } catch (IOException e) {
            // There is nothing to be written out.
            assert false : e;
        }
    }
}
