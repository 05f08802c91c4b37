// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.nettyucx.socket.SocketLayouts.EpollEvent;
import io.github.nettyucx.socket.SocketLayouts.ITimerSpec;
import io.github.nettyucx.socket.SocketLayouts.TimeSpec;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An epoll instance with an eventfd in it: blocks a loop until one of its descriptors, another thread or a deadline
 * wakes it.
 *
 * <p>A wait with a limit has the kernel set a timer and take it back, for each message if each is waited for. So a timerfd
 * bounds long ones. It stays set until it expires, and goes for each wait that ends then or later.
 *
 * <p>Only the loop's thread may call, except for {@link #wakeup()} and {@link #close()}.
 */
public final class Epoll implements AutoCloseable {
    public static final int IN = SocketConstants.EPOLLIN;
    public static final int OUT = SocketConstants.EPOLLOUT;
    /** Comes without being asked for. */
    public static final int ERR = SocketConstants.EPOLLERR;
    /** Comes without being asked for. */
    public static final int HUP = SocketConstants.EPOLLHUP;
    public static final int RDHUP = SocketConstants.EPOLLRDHUP;
    /** An event comes once, when it happens, and not as long as it lasts. */
    public static final int EDGE = SocketConstants.EPOLLET;

    /** Those that do not fit come with the next call. */
    static final int MAX_EVENTS = 256;
    private static final long NOBODY = -1;
    private static final long NONE = -1;
    private static final int TIMEOUT = MAX_EVENTS * 16;
    private static final int TIMER = TIMEOUT + TimeSpec.SIZE;
    /** For what is registered. */
    private static final int REGISTRATION = TIMER + ITimerSpec.SIZE;
    private static final int MEMORY_SIZE = REGISTRATION + 16;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** From here on a limit is worth a call that sets the timer. */
    private static final long LONG_NANOS = 10 * NANOS_PER_MILLI;
    /** The key lies at 4 where the struct is packed. */
    private static final ValueLayout.OfLong KEY = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt EVENTS = ValueLayout.JAVA_INT_UNALIGNED;

    /** Shared, as it may be closed by another thread than the one that made it. */
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final long base;
    private final int epollFd;
    private final int eventFd;
    /** Whether the kernel has {@code epoll_pwait2}, as far as is known. */
    private boolean nanosecondTimeouts = true;
    /** Made when it is needed. */
    private int timerFd = -1;
    private Timer timer = Timer.EXPIRED;
    /** When it expires, by {@link System#nanoTime}, or a moment later; while it is set. */
    private long timerNanos;
    private boolean full;
    private boolean closed;

    private enum Timer {
        EXPIRED,
        SET,
        /** There is none to be had. */
        REFUSED
    }

    public Epoll() throws IOException {
        // Edge-triggered, so that nobody has to read the counter back: each write is an edge of its own.
        this(IN | EDGE);
    }

    /** @param wakeupInterest in what of the eventfd; a test is interested in what epoll refuses */
    Epoll(int wakeupInterest) throws IOException {
        CallState state = CallState.current();
        int epoll = -1;
        int event = -1;
        try {
            memory = arena.allocate(MEMORY_SIZE, 8);
            base = memory.address();
            epoll = Errno.check("epoll_create1", SocketFunctions.epollCreate(state, SocketConstants.EPOLL_CLOEXEC));
            event = Errno.check("eventfd",
                    SocketFunctions.eventfd(state, SocketConstants.EFD_CLOEXEC | SocketConstants.EFD_NONBLOCK));
            epollFd = epoll;
            eventFd = event;
            control("epoll_ctl(eventfd)", SocketConstants.EPOLL_CTL_ADD, event, wakeupInterest, NOBODY);
        } catch (Throwable t) {
            // The loop tries again, as often as it takes.
            giveUp(event, epoll);
            throw t;
        }
    }

    private void giveUp(int... descriptors) {
        for (int descriptor : descriptors) {
            if (descriptor >= 0) {
                SocketFunctions.close(CallState.current(), descriptor);
            }
        }
        arena.close();
    }

    /**
     * Watches a descriptor, which may be there once.
     *
     * @param interest {@link #IN}, {@link #OUT}, {@link #RDHUP}, {@link #EDGE}
     * @param key comes back with the events; negative: nobody is told, {@link #await} just returns
     */
    public void add(int fd, int interest, long key) throws IOException {
        control("epoll_ctl(add)", SocketConstants.EPOLL_CTL_ADD, fd, interest, key);
    }

    /**
     * Watches a descriptor no more. A descriptor that is closed is gone by itself, unless it was duplicated. Events of
     * the last {@link #poll} or {@link #await} stay there to be read.
     */
    public void remove(int fd) throws IOException {
        control("epoll_ctl(remove)", SocketConstants.EPOLL_CTL_DEL, fd, 0, NOBODY);
    }

    /**
     * Asks, without blocking.
     *
     * @return how many events with a key of 0 or more there are, at most 256
     */
    public int poll() {
        int n = SocketFunctions.epollPoll(CallState.current(), epollFd(), base, MAX_EVENTS);
        if (n < 0 && n != -Errno.EINTR) {
            throw new IllegalStateException("epoll_wait failed: " + Errno.text(-n));
        }
        return told(n);
    }

    /**
     * Blocks until something is ready. It may return early, with nothing.
     *
     * @param timeoutNanos the longest time to block, in nanoseconds; negative for no limit; 0: as {@link #poll}
     * @return how many events with a key of 0 or more there are, at most 256
     */
    public int await(long timeoutNanos) throws IOException {
        if (timeoutNanos == 0) {
            return poll();
        }
        CallState state = CallState.current();
        long limit = timeoutNanos < 0 || boundByTimer(state, timeoutNanos) ? NONE : timeoutNanos;
        int n = limit == NONE || !nanosecondTimeouts ? -Errno.ENOSYS : await2(state, limit);
        if (n == -Errno.ENOSYS) {
            n = await1(state, millis(limit));
        }
        if (n < 0 && n != -Errno.EINTR) {
            throw Errno.exception("epoll_wait", -n);
        }
        return told(n);
    }

    /** Sets the timer, if it is not set and that pays. @return whether it will end the wait; perhaps before its time is over */
    private boolean boundByTimer(CallState state, long timeoutNanos) {
        if (timer == Timer.REFUSED || timer == Timer.EXPIRED && timeoutNanos < LONG_NANOS) {
            return false;
        }
        long now = System.nanoTime();
        if (timer == Timer.SET) {
            long left = timerNanos - now;
            if (left > 0 && left <= timeoutNanos) {
                return true;
            }
        }
        return timeoutNanos >= LONG_NANOS && setTimer(state, now, timeoutNanos);
    }

    private boolean setTimer(CallState state, long now, long timeoutNanos) {
        if (timerFd < 0) {
            timerFd = newTimer(state);
        }
        setTime(TIMER + ITimerSpec.VALUE, timeoutNanos);
        if (timerFd < 0 || SocketFunctions.timerfdSet(state, timerFd, base + TIMER) < 0) {
            timer = Timer.REFUSED;
            return false;
        }
        timer = Timer.SET;
        timerNanos = now + timeoutNanos;
        return true;
    }

    /** Edge-triggered as well: each expiry is an edge. @return negative if there is none */
    private int newTimer(CallState state) {
        int fd = SocketFunctions.timerfd(state, SocketConstants.TFD_CLOEXEC | SocketConstants.TFD_NONBLOCK);
        if (fd >= 0) {
            try {
                control("epoll_ctl(timerfd)", SocketConstants.EPOLL_CTL_ADD, fd, IN | EDGE, NOBODY);
            } catch (IOException e) {
                SocketFunctions.close(state, fd);
                return -1;
            }
        }
        return fd;
    }

    private void setTime(long offset, long nanos) {
        memory.set(JAVA_LONG, offset + TimeSpec.SEC, nanos / NANOS_PER_SECOND);
        memory.set(JAVA_LONG, offset + TimeSpec.NSEC, nanos % NANOS_PER_SECOND);
    }

    private int await1(CallState state, int millis) {
        int n = SocketFunctions.sleep(epollFd(), base, MAX_EVENTS, millis);
        // A signal that ended it is none any more: then there is what is ready now.
        return n >= 0 ? n : SocketFunctions.epollWait(state, epollFd(), base, MAX_EVENTS);
    }

    /** @return {@code -ENOSYS} if there is no such call */
    private int await2(CallState state, long timeoutNanos) {
        setTime(TIMEOUT, timeoutNanos);
        int n = SocketFunctions.sleep2(epollFd(), base, MAX_EVENTS, base + TIMEOUT);
        if (n < 0) {
            setTime(TIMEOUT, 0);
            n = SocketFunctions.epollWait2(state, epollFd(), base, MAX_EVENTS, base + TIMEOUT);
        }
        // A sandbox (seccomp) that does not know the call says EPERM, which epoll itself never does here.
        if (n == -Errno.ENOSYS || n == -Errno.EPERM) {
            nanosecondTimeouts = false;
            return -Errno.ENOSYS;
        }
        return n;
    }

    /** Takes out what nobody is told of. */
    private int told(int n) {
        full = n == MAX_EVENTS;
        int told = 0;
        for (int i = 0; i < n; i++) {
            // Without a branch: a timer or a wakeup is rare among a busy loop's events, and the JIT would have to compile the
            // loop again when the first one comes.
            long key = key(i);
            int to = told * EpollEvent.SIZE;
            memory.set(EVENTS, (long) to + EpollEvent.EVENTS, events(i));
            memory.set(KEY, (long) to + EpollEvent.DATA, key);
            told += (int) (~key >>> Long.SIZE - 1);
        }
        return told;
    }

    /** Whether there may have been more events than the last {@link #poll} or {@link #await} could tell. */
    public boolean wasFull() {
        return full;
    }

    /** What has happened, of the last {@link #poll} or {@link #await}; {@code 0 <= i <} its answer. */
    public int events(int i) {
        return memory.get(EVENTS, (long) i * EpollEvent.SIZE + EpollEvent.EVENTS);
    }

    /** To whom, of the last {@link #poll} or {@link #await}; {@code 0 <= i <} its answer. */
    public long key(int i) {
        return memory.get(KEY, (long) i * EpollEvent.SIZE + EpollEvent.DATA);
    }

    /** Makes a running or the next {@link #await} return; after {@link #close}, nothing. Any thread may call. */
    public synchronized void wakeup() {
        if (closed) {
            // By a thread that came to wake the loop just before it ended: the number may be somebody else's now.
            return;
        }
        // It fails only when the counter is full, and then somebody has been told more than often enough.
        SocketFunctions.eventfdWrite(eventFd, 1);
    }

    /** Once, or more than once; not while another thread waits. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            giveUp(timerFd, eventFd, epollFd);
        }
    }

    /** Checked, as the memory is gone once it is closed. */
    private int epollFd() {
        if (closed) {
            throw new IllegalStateException("closed");
        }
        return epollFd;
    }

    /** Rounds up: a timer that is late by less than a millisecond is better than a loop that wakes too early. */
    static int millis(long nanos) {
        if (nanos < 0) {
            return -1;
        }
        return (int) Math.min(Integer.MAX_VALUE, nanos / NANOS_PER_MILLI + (nanos % NANOS_PER_MILLI == 0 ? 0 : 1));
    }

    private void control(String what, int operation, int fd, int interest, long key) throws IOException {
        memory.set(JAVA_INT, REGISTRATION + EpollEvent.EVENTS, interest);
        memory.set(KEY, REGISTRATION + EpollEvent.DATA, key);
        Errno.check(what,
                SocketFunctions.epollControl(CallState.current(), epollFd, operation, fd, base + REGISTRATION));
    }
}
