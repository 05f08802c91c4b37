// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The functions of libc that sockets, epoll and pipes take. Each answers with the function's result, or with the
 * negative {@code errno}; a call allocates nothing. Pointers and {@code size_t} are {@code long}.
 *
 * <p>One call is critical, {@link #epollPoll}: it keeps its thread "in Java", so that the garbage collector waits for
 * it, and it neither blocks nor runs long. Sends and receives do not qualify: they copy as much as they are given.
 */
final class SocketFunctions {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");

    /*
     * All calls are of one shape, whatever the functions take and return, but for those of a loop's turns: the virtual machine
     * makes classes for each shape, which is most of what a process with a listening socket would spend on starting.
     * Integers and pointers travel in registers of 64 bits, of which a function looks at the bits of its own type, and at
     * its own arguments only; what it returns as an int is cut to one (System V ABI for AMD64, 3.2.3; AAPCS64, 6.8.2).
     */
    private static final FunctionDescriptor THREE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor SIX = THREE.appendArgumentLayouts(JAVA_LONG, JAVA_LONG, JAVA_LONG);

    /** For the functions that are bound to it: what takes the function's address first. */
    private static final MethodHandle SHAPE = LINKER.downcallHandle(SIX, CAPTURE);

    private static final MethodHandle SOCKET = bind("socket", SHAPE);
    private static final MethodHandle BIND = bind("bind", SHAPE);
    private static final MethodHandle LISTEN = bind("listen", SHAPE);
    private static final MethodHandle CONNECT = bind("connect", SHAPE);
    private static final MethodHandle ACCEPT4 = bind("accept4", SHAPE);
    private static final MethodHandle GETSOCKNAME = bind("getsockname", SHAPE);
    private static final MethodHandle GETPEERNAME = bind("getpeername", SHAPE);
    private static final MethodHandle GETSOCKOPT = bind("getsockopt", SHAPE);
    private static final MethodHandle SETSOCKOPT = bind("setsockopt", SHAPE);
    private static final MethodHandle SHUTDOWN = bind("shutdown", SHAPE);
    private static final MethodHandle CLOSE = bind("close", SHAPE);
    private static final MethodHandle PIPE2 = bind("pipe2", SHAPE);
    private static final MethodHandle READ = bind("read", SHAPE);
    private static final MethodHandle DUP = bind("dup", SHAPE);
    private static final MethodHandle GETRANDOM = bind("getrandom", SHAPE);
    private static final MethodHandle EPOLL_CREATE1 = bind("epoll_create1", SHAPE);
    private static final MethodHandle EPOLL_CTL = bind("epoll_ctl", SHAPE);
    /** Critical, and without {@code errno}: who wants to know why it has failed calls {@link #epollWait}. */
    private static final MethodHandle EPOLL_POLL =
            bind("epoll_wait", LINKER.downcallHandle(SIX, Linker.Option.critical(false)));
    private static final MethodHandle EPOLL_WAIT = bind("epoll_wait", SHAPE);
    /** Absent before glibc 2.35. */
    private static final MethodHandle EPOLL_PWAIT2 = bindIfPresent("epoll_pwait2", SHAPE);
    private static final MethodHandle EVENTFD = bind("eventfd", SHAPE);

    /**
     * Without {@code errno}. A call that tells it leaves an object to the garbage collector until the JIT has compiled it well,
     * see below. A loop that sleeps now and then is not busy enough for that. And a thread that wakes one needs no
     * {@link CallState}.
     */
    private static final MethodHandle WITHOUT_ERRNO = LINKER.downcallHandle(SIX);
    private static final MethodHandle SLEEP = bind("epoll_wait", WITHOUT_ERRNO);
    private static final MethodHandle SLEEP2 = bindIfPresent("epoll_pwait2", WITHOUT_ERRNO);
    private static final MethodHandle EVENTFD_WRITE = bind("eventfd_write", WITHOUT_ERRNO);

    /*
     * What is called for each message. None of these is final, though nobody sets one again: so the JIT does not compile them
     * into their callers. For each call the JDK makes a view of the memory for errno (SharedUtils.checkCaptureSegment). The
     * JIT sees through it in the handle's own code, but not always in that of a whole turn of a loop: then it is an object of
     * 40 bytes.
     */
    private static MethodHandle recv = bind("recv", SHAPE);
    private static MethodHandle send = bind("send", SHAPE);
    private static MethodHandle sendmsg = bind("sendmsg", SHAPE);
    private static MethodHandle sendto = bind("sendto", SHAPE);
    private static MethodHandle recvfrom = bind("recvfrom", SHAPE);
    private static MethodHandle splice = bind("splice", SHAPE);

    /** Needed by the first loop that waits long, and not to start. */
    private static final class Timer {
        private static final MethodHandle CREATE = bind("timerfd_create", SHAPE);
        private static final MethodHandle SETTIME = bind("timerfd_settime", SHAPE);
    }

    /** Needed by few, and of a shape of their own: the rest of their arguments is variadic. */
    private static final class Variadic {
        private static final MethodHandle SHAPE =
                LINKER.downcallHandle(THREE, CAPTURE, Linker.Option.firstVariadicArg(2));
        private static final MethodHandle IOCTL = bind("ioctl", SHAPE);
        private static final MethodHandle FCNTL = bind("fcntl", SHAPE);
    }

    /** Needed when the first error is told; in the locale C, whatever the process has. */
    private static final class ErrorText {
        private static final MethodHandle SHAPE = LINKER.downcallHandle(THREE);
        private static final MethodHandle NEWLOCALE = bind("newlocale", SHAPE);
        private static final MethodHandle STRERROR_L = bind("strerror_l", SHAPE);
        private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
        private static final long LOCALE = newLocale();

        private static long newLocale() {
            try (Arena arena = Arena.ofConfined()) {
                return (long) NEWLOCALE.invokeExact(
                        (long) SocketConstants.LC_MESSAGES_MASK, arena.allocateFrom("C").address(), 0L);
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }
    }

    private SocketFunctions() {
    }

    /** Does nothing but have this class initialized. */
    static void prepare() {
    }

    static int socket(CallState state, long domain, long type) {
        return call(state, SOCKET, domain, type, 0);
    }

    static int bind(CallState state, long fd, long address, long length) {
        return call(state, BIND, fd, address, length);
    }

    static int listen(CallState state, long fd, long backlog) {
        return call(state, LISTEN, fd, backlog, 0);
    }

    static int connect(CallState state, long fd, long address, long length) {
        return call(state, CONNECT, fd, address, length);
    }

    static int accept4(CallState state, long fd, long address, long length, long flags) {
        return call(state, ACCEPT4, fd, address, length, flags, 0, 0);
    }

    static int getsockname(CallState state, long fd, long address, long length) {
        return call(state, GETSOCKNAME, fd, address, length);
    }

    static int getpeername(CallState state, long fd, long address, long length) {
        return call(state, GETPEERNAME, fd, address, length);
    }

    static int getsockopt(CallState state, long fd, long level, long name, long value, long length) {
        return call(state, GETSOCKOPT, fd, level, name, value, length, 0);
    }

    static int setsockopt(CallState state, long fd, long level, long name, long value, long length) {
        return call(state, SETSOCKOPT, fd, level, name, value, length, 0);
    }

    static int shutdown(CallState state, long fd, long how) {
        return call(state, SHUTDOWN, fd, how, 0);
    }

    /** Not to be repeated when it was interrupted: the number is free then, and may be somebody else's already. */
    static int close(CallState state, long fd) {
        return call(state, CLOSE, fd, 0, 0);
    }

    static int ioctl(CallState state, long fd, long request, long argument) {
        return variadic(state, Variadic.IOCTL, fd, request, argument);
    }

    static int fcntl(CallState state, long fd, long command, long argument) {
        return variadic(state, Variadic.FCNTL, fd, command, argument);
    }

    static long recv(CallState state, long fd, long address, long length, long flags) {
        try {
            return state.result((long) recv.invokeExact(state.errno, fd, address, length, flags, 0L, 0L));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static long send(CallState state, long fd, long address, long length, long flags) {
        try {
            return state.result((long) send.invokeExact(state.errno, fd, address, length, flags, 0L, 0L));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static long sendmsg(CallState state, long fd, long message, long flags) {
        try {
            return state.result((long) sendmsg.invokeExact(state.errno, fd, message, flags, 0L, 0L, 0L));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static long sendto(
            CallState state, long fd, long bytes, long length, long flags, long address, long addressLength) {
        try {
            return state.result((long) sendto.invokeExact(state.errno,
                    fd, bytes, length, flags, address, addressLength));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static long recvfrom(
            CallState state, long fd, long bytes, long length, long flags, long address, long addressLength) {
        try {
            return state.result((long) recvfrom.invokeExact(state.errno,
                    fd, bytes, length, flags, address, addressLength));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static long splice(CallState state, long from, long to, long length, long flags) {
        try {
            return state.result((long) splice.invokeExact(state.errno, from, 0L, to, 0L, length, flags));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static int pipe2(CallState state, long descriptors, long flags) {
        return call(state, PIPE2, descriptors, flags, 0);
    }

    static int read(CallState state, long fd, long address, long length) {
        return call(state, READ, fd, address, length);
    }

    static int dup(CallState state, long fd) {
        return call(state, DUP, fd, 0, 0);
    }

    /** Never gives more at a time than fits an int. */
    static int getrandom(CallState state, long address, long length) {
        return call(state, GETRANDOM, address, length, 0);
    }

    static int epollCreate(CallState state, long flags) {
        return call(state, EPOLL_CREATE1, flags, 0, 0);
    }

    static int epollControl(CallState state, long epoll, long operation, long fd, long event) {
        return call(state, EPOLL_CTL, epoll, operation, fd, event, 0, 0);
    }

    /** {@code epoll_wait} for as long as it takes. @return negative if it failed, without a number: {@link #epollWait} has it */
    static int sleep(long epoll, long events, long max, long millis) {
        return withoutErrno(SLEEP, epoll, events, max, millis);
    }

    /**
     * The same with a {@code struct timespec}.
     *
     * @return negative if it failed, without a number: {@link #epollWait2} has it
     */
    static int sleep2(long epoll, long events, long max, long timeout) {
        return SLEEP2 == null ? -1 : withoutErrno(SLEEP2, epoll, events, max, timeout);
    }

    private static int withoutErrno(MethodHandle function, long first, long second, long third, long fourth) {
        try {
            return (int) (long) function.invokeExact(first, second, third, fourth, 0L, 0L);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** {@code epoll_wait} that does not wait. */
    static int epollPoll(CallState state, long epoll, long events, long max) {
        try {
            int n = (int) (long) EPOLL_POLL.invokeExact(epoll, events, max, 0L, 0L, 0L);
            return n >= 0 ? n : epollWait(state, epoll, events, max);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** {@code epoll_wait} that does not wait, and tells why it fails. */
    static int epollWait(CallState state, long epoll, long events, long max) {
        return call(state, EPOLL_WAIT, epoll, events, max);
    }

    /** The same of {@code epoll_pwait2}; {@code -ENOSYS} where libc has it not. */
    static int epollWait2(CallState state, long epoll, long events, long max, long timeout) {
        return EPOLL_PWAIT2 == null ? -Errno.ENOSYS
                : call(state, EPOLL_PWAIT2, epoll, events, max, timeout, 0, 0);
    }

    /** A timer that ends waits, by the clock that {@link System#nanoTime} reads. */
    static int timerfd(CallState state, long flags) {
        return call(state, Timer.CREATE, SocketConstants.CLOCK_MONOTONIC, flags, 0);
    }

    /** @param time in which it expires; forgets that it has */
    static int timerfdSet(CallState state, long fd, long time) {
        return call(state, Timer.SETTIME, fd, 0, time, 0, 0, 0);
    }

    static int eventfd(CallState state, long flags) {
        return call(state, EVENTFD, 0, flags, 0);
    }

    /** @return negative if it failed, without a number */
    static int eventfdWrite(long fd, long value) {
        try {
            return (int) (long) EVENTFD_WRITE.invokeExact(fd, value, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    static String errorText(int errno) {
        try {
            return ErrorText.ALL.getString((long) ErrorText.STRERROR_L.invokeExact((long) errno, ErrorText.LOCALE, 0L));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** The functions return an {@code int}. */
    private static int call(CallState state, MethodHandle function, long first, long second, long third) {
        return call(state, function, first, second, third, 0, 0, 0);
    }

    private static int call(CallState state, MethodHandle function,
            long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            return state.result((int) (long) function.invokeExact(
                    state.errno, first, second, third, fourth, fifth, sixth));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private static int variadic(CallState state, MethodHandle function, long fd, long what, long argument) {
        try {
            return state.result((int) (long) function.invokeExact(state.errno, fd, what, argument));
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private static MethodHandle bind(String name, MethodHandle shape) {
        MethodHandle handle = bindIfPresent(name, shape);
        if (handle == null) {
            throw new UnsatisfiedLinkError("the C library has no function " + name);
        }
        return handle;
    }

    private static MethodHandle bindIfPresent(String name, MethodHandle shape) {
        Optional<MemorySegment> symbol = LINKER.defaultLookup().find(name);
        return symbol.isEmpty() ? null : shape.bindTo(symbol.get());
    }

    /** A downcall has nothing of its own to throw: what arrives here is the virtual machine's. */
    static RuntimeException rethrow(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof RuntimeException exception) {
            throw exception;
        }
        throw new AssertionError("a downcall threw a checked exception", cause);
    }
}
