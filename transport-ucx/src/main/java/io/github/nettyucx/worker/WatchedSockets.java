// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The sockets of one loop: who is told of their events, and in which turns the loop looks for some. And its workers, which
 * are told what their descriptors say.
 */
final class WatchedSockets {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(WatchedSockets.class);

    /** In the key of a worker's descriptor; the rest of it is the descriptor. */
    private static final long WORKER = 1L << 62;
    /** Of a socket's watch; no bit of it is that one. */
    private static final long MAX_NUMBER = 0x3fffffff;

    /**
     * How often a loop that spins looks at its sockets: a system call takes longer than a round trip through shared
     * memory. While bytes go over sockets it looks in every turn, and for so many turns after the last of them.
     */
    private static final int TURNS_PER_LOOK = 256;
    private static final int TURNS_OF_WORK = 256;
    /** So many messages and the like make a turn count for another one, as a power of two. */
    private static final int WORK_SHIFT = 2;
    /**
     * How often the time is looked at in turns in which channels run, and how long that may take until the loop looks at
     * its sockets. Nothing but the clock knows how long a handler takes.
     */
    private static final int RUNS_PER_CLOCK = 8;
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final Epoll epoll;
    private final LongSupplier clock;
    private final IntObjectMap<Watch> watches = new IntObjectHashMap<>();
    private final IntObjectMap<Worker> workers = new IntObjectHashMap<>();
    /** Events that a sleep has found, and that have not been told. */
    private int fetched;
    private Look look = Look.WHEN_DUE;
    private int turnsToLook = TURNS_PER_LOOK;
    private int turnsOfWork;
    private boolean busy;
    private int runsToClock = RUNS_PER_CLOCK;
    private long clockNanos;
    private int nextWatch;

    private enum Look {
        WHEN_DUE,
        /** Not in this turn: it ends in a sleep, which looks itself. */
        LEFT_TO_SLEEP,
        /** It was due in this turn, and has been left to the sleep. */
        OWED
    }

    /** A socket's watcher; the key that epoll tells has its number, so that late events of another find nobody. */
    private record Watch(int number, SocketWatcher watcher) {
    }

    /** @param epoll the loop's, which it sleeps in */
    WatchedSockets(Epoll epoll) {
        this(epoll, System::nanoTime);
    }

    /** @param clock in nanoseconds */
    WatchedSockets(Epoll epoll, LongSupplier clock) {
        this.epoll = epoll;
        this.clock = clock;
        clockNanos = clock.getAsLong();
    }

    // ------------------------------------------------------------------------------------------- who is told

    void watch(KernelSocket socket, int interest, SocketWatcher watcher) throws IOException {
        int number = ++nextWatch;
        epoll.add(socket.fd(), interest, (number & MAX_NUMBER) << 32 | socket.fd());
        watches.put(socket.fd(), new Watch((int) (number & MAX_NUMBER), watcher));
    }

    void rewatch(KernelSocket socket, SocketWatcher watcher) {
        Watch watch = watches.get(socket.fd());
        if (watch != null) {
            watches.put(socket.fd(), new Watch(watch.number, watcher));
        }
    }

    void unwatch(KernelSocket socket) {
        if (watches.remove(socket.fd()) != null) {
            try {
                epoll.remove(socket.fd());
            } catch (IOException e) {
                logger.warn("Failed to stop watching a socket.", e);
            }
        }
    }

    /**
     * What the worker's descriptor says ends a sleep. One sleep, if the worker is armed only when nothing is left there to say:
     * a loop that waits for a peer's room cannot arm its workers, and each of its naps would be ended by what was said before.
     */
    void watch(Worker worker) throws IOException {
        int fd = worker.eventFd();
        epoll.add(fd, worker.armsWhenSilent() ? Epoll.IN | Epoll.EDGE : Epoll.IN, WORKER | fd);
        workers.put(fd, worker);
    }

    void unwatch(Worker worker) {
        try {
            workers.remove(worker.eventFd());
            epoll.remove(worker.eventFd());
        } catch (IOException e) {
            logger.warn("Failed to stop watching a worker's descriptor.", e);
        }
    }

    void clear() {
        watches.clear();
        workers.clear();
    }

    // ------------------------------------------------------------------------------------------- when they are looked at

    /** Bytes go over a socket. */
    void noteWork() {
        turnsOfWork = TURNS_OF_WORK;
    }

    /** The turn was long for another reason than what {@link #poll} is told. */
    void noteBusy() {
        busy = true;
    }

    /**
     * Channels have run in this turn, and their handlers with them. After long ones the next turn looks; and the time is
     * looked at in each such turn for as long as that goes on.
     */
    void noteRun() {
        if (--runsToClock > 0) {
            return;
        }
        long now = clock.getAsLong();
        boolean isLong = now - clockNanos >= LONG_NANOS;
        clockNanos = now;
        runsToClock = isLong ? 1 : RUNS_PER_CLOCK;
        busy |= isLong;
    }

    /** The loop has slept, and so many events of its epoll have ended that, or come meanwhile. */
    void fetched(int events) {
        fetched = events;
        look = Look.WHEN_DUE;
    }

    /**
     * If the next turn finds nothing else, the loop sleeps again. It has just slept, and what that has found has been told: so
     * there is no need to look, unless there was more.
     */
    void leaveLookToSleep() {
        if (!epoll.wasFull()) {
            look = Look.LEFT_TO_SLEEP;
        }
    }

    /**
     * The turn does not end in a sleep. Tells of the events that there are, if the turn has left that to the sleep.
     *
     * @return how many of sockets
     */
    int makeUpForLook() {
        if (look != Look.OWED) {
            return 0;
        }
        look = Look.WHEN_DUE;
        return tell(epoll.poll());
    }

    /**
     * Tells of the events that there are, if it is time to look.
     *
     * @param work  what else this turn has done
     * @param spins whether the loop has something to do in turns without sockets
     * @return how many of sockets
     */
    int poll(int work, boolean spins) {
        int events = fetched;
        fetched = 0;
        if (events == 0) {
            boolean left = look == Look.LEFT_TO_SLEEP;
            look = Look.WHEN_DUE;
            if (watches.isEmpty() || !isTimeToLook(work, spins)) {
                return 0;
            }
            if (left) {
                look = Look.OWED;
                return 0;
            }
            events = epoll.poll();
        }
        return tell(events);
    }

    private int tell(int events) {
        int told = 0;
        for (int i = 0; i < events; i++) {
            long key = epoll.key(i);
            if ((key & WORKER) != 0) {
                signalled((int) key);
                continue;
            }
            told++;
            Watch watch = watches.get((int) key);
            if (watch != null && watch.number == key >>> 32) {
                tell(watch.watcher, epoll.events(i));
            }
        }
        return told;
    }

    private void signalled(int fd) {
        Worker worker = workers.get(fd);
        if (worker != null) {
            worker.signalled();
        }
    }

    private boolean isTimeToLook(int work, boolean spins) {
        if (turnsOfWork > 0) {
            turnsOfWork--;
            return true;
        }
        if (spins && !busy) {
            // A turn in which much was done was long. Without a look at the clock, which takes as long as an idle turn.
            turnsToLook -= 1 + (work >> WORK_SHIFT);
            if (turnsToLook > 0) {
                return false;
            }
        }
        busy = false;
        turnsToLook = TURNS_PER_LOOK;
        return true;
    }

    private static void tell(SocketWatcher watcher, int events) {
        try {
            watcher.socketReady(events);
        } catch (Throwable e) {
            logger.warn("A socket's events could not be dealt with.", e);
            try {
                watcher.faulted(e);
            } catch (Throwable another) {
                logger.warn("What has such a socket could not be ended.", another);
            }
        }
    }
}
