// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * An epoll instance with an eventfd in it: blocks a loop until one of the workers' descriptors, another thread or a
 * deadline wakes it.
 * <p>
 * Only the loop's thread may call, except for {@link #wakeup()}.
 */
final class EventPoller implements AutoCloseable {

    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLLIN = 1;
    private static final int EPOLLET = 1 << 31;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final int ENOSYS = 38;
    private static final int EINTR = 4;
    private static final int MAX_EVENTS = 16;
    /** {@code struct epoll_event} is packed on x86-64 (12 bytes) and padded elsewhere (16): the larger one fits both. */
    private static final int EVENT_SIZE = 16;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle EPOLL_CREATE1 = bind("epoll_create1", JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CTL =
            bind("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle EPOLL_WAIT = bind("epoll_wait", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
    /** Nanosecond timeouts; absent before glibc 2.35, and refused by kernels before 5.11. */
    private static final MethodHandle EPOLL_PWAIT2 =
            bindIfPresent("epoll_pwait2", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EVENTFD = bind("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD_WRITE = bind("eventfd_write", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle CLOSE = bind("close", JAVA_INT, JAVA_INT);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment errno;
    private final MemorySegment events;
    private final MemorySegment timeout;
    private final int epollFd;
    private final int eventFd;
    private boolean nanosecondTimeouts = EPOLL_PWAIT2 != null;
    private boolean closed;

    EventPoller() throws IOException {
        // Edge-triggered, so that nobody has to read the counter back: each write is an edge of its own.
        this(EPOLLIN | EPOLLET);
    }

    /** @param wakeupInterest in what of the eventfd; a test is interested in what epoll refuses */
    EventPoller(int wakeupInterest) throws IOException {
        int epoll = -1;
        int event = -1;
        boolean complete = false;
        try {
            errno = arena.allocate(CAPTURE);
            events = arena.allocate((long) EVENT_SIZE * MAX_EVENTS, 8);
            timeout = arena.allocate(16, 8);
            epoll = check("epoll_create1", create(EPOLL_CREATE1, EPOLL_CLOEXEC));
            event = check("eventfd", eventFd());
            epollFd = epoll;
            eventFd = event;
            control("epoll_ctl(eventfd)", EPOLL_CTL_ADD, event, wakeupInterest);
            complete = true;
        } finally {
            // The loop tries again, as often as it takes.
            if (!complete) {
                giveUp(event, epoll);
            }
        }
    }

    private void giveUp(int... descriptors) {
        for (int descriptor : descriptors) {
            if (descriptor >= 0) {
                closeFd(descriptor);
            }
        }
        arena.close();
    }

    /** Watches a worker's descriptor, level-triggered. */
    void add(int fd) throws IOException {
        control("epoll_ctl(worker)", EPOLL_CTL_ADD, fd, EPOLLIN);
    }

    void remove(int fd) throws IOException {
        control("epoll_ctl(worker)", EPOLL_CTL_DEL, fd, 0);
    }

    /**
     * Blocks until something is ready.
     *
     * @param timeoutNanos the longest time to block, in nanoseconds; negative for no limit
     */
    void await(long timeoutNanos) throws IOException {
        int n;
        try {
            if (nanosecondTimeouts && timeoutNanos >= 0) {
                timeout.set(JAVA_LONG, 0, timeoutNanos / NANOS_PER_SECOND);
                timeout.set(JAVA_LONG, 8, timeoutNanos % NANOS_PER_SECOND);
                n = (int) EPOLL_PWAIT2.invokeExact(
                        errno, epollFd, events.address(), MAX_EVENTS, timeout.address(), 0L);
                if (n < 0 && lastErrno() == ENOSYS) {
                    nanosecondTimeouts = false;
                    await(timeoutNanos);
                    return;
                }
            } else {
                n = (int) EPOLL_WAIT.invokeExact(errno, epollFd, events.address(), MAX_EVENTS, millis(timeoutNanos));
            }
        } catch (Throwable t) {
            throw rethrow(t);
        }
        if (n < 0 && lastErrno() != EINTR) {
            throw new IOException("epoll_wait failed, errno " + lastErrno());
        }
    }

    /** Makes a running or the next {@link #await(long)} return. Any thread may call. */
    synchronized void wakeup() {
        if (closed) {
            // By a thread that came to wake the loop just before it ended: the number may be somebody else's now.
            return;
        }
        try (Arena scratch = Arena.ofConfined()) {
            int ignored = (int) EVENTFD_WRITE.invokeExact(scratch.allocate(CAPTURE), eventFd, 1L);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            giveUp(eventFd, epollFd);
        }
    }

    /** Rounds up: a timer that is late by less than a millisecond is better than a loop that wakes too early. */
    private static int millis(long nanos) {
        if (nanos < 0) {
            return -1;
        }
        return (int) Math.min(Integer.MAX_VALUE, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
    }

    private void control(String what, int operation, int fd, int interest) throws IOException {
        events.set(JAVA_INT, 0, interest);
        try {
            check(what, (int) EPOLL_CTL.invokeExact(errno, epollFd, operation, fd, events.address()));
        } catch (IOException e) {
            throw e;
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private int create(MethodHandle handle, int flags) {
        try {
            return (int) handle.invokeExact(errno, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private int eventFd() {
        try {
            return (int) EVENTFD.invokeExact(errno, 0, EFD_CLOEXEC | EFD_NONBLOCK);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private void closeFd(int fd) {
        create(CLOSE, fd);
    }

    private int check(String what, int result) throws IOException {
        if (result < 0) {
            throw new IOException(what + " failed, errno " + lastErrno()
                    + (lastErrno() == 24 ? " (too many open files: raise the limit, ulimit -n)" : ""));
        }
        return result;
    }

    private int lastErrno() {
        return (int) ERRNO.get(errno, 0L);
    }

    private static MethodHandle bind(String name, ValueLayout result, ValueLayout... arguments) {
        MethodHandle handle = bindIfPresent(name, result, arguments);
        if (handle == null) {
            throw new UnsatisfiedLinkError("the C library has no function " + name);
        }
        return handle;
    }

    private static MethodHandle bindIfPresent(String name, ValueLayout result, ValueLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        SymbolLookup libc = linker.defaultLookup();
        return libc.find(name)
                .map(symbol -> linker.downcallHandle(symbol, FunctionDescriptor.of(result, arguments),
                        Linker.Option.captureCallState("errno")))
                .orElse(null);
    }

    static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }
}
