// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Departure;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.worker.EnginePort;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Input and output of one event loop, whatever the loop's shape: the turns of its {@link ProgressEngine}, what it does
 * while nothing happens, and the channels that are registered with it. Running tasks and timers is the loop's matter.
 * <p>
 * For implementations of event loops; applications have no use for it. All methods but {@link #wakeup()},
 * {@link #wakesBefore(long)}, {@link #metrics()}, {@link #channelCount()} and {@link #checkSettings()} belong to the loop's
 * thread.
 */
public final class IoDriver {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(IoDriver.class);

    /**
     * How long a loop that UCX does not let sleep goes on turning, and how long it then sleeps at a time, from the first
     * time to the last. UCX refuses while a send waits for room in shared memory, which a stopped peer never makes.
     */
    private static final long BUSY_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long FIRST_BUSY_SLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long LAST_BUSY_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** How often a loop that spins looks whether a timer is due. */
    private static final int IDLE_TURNS_PER_CLOCK_READ = 8;

    /** While channels linger: how often the loop looks at the time, and its pause where UCX does not let it sleep. */
    private static final long LINGER_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LINGER_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    // What nextWakeupNanos says: the loop is awake, sleeps without a limit, or else the time at which it will wake.
    private static final long AWAKE = -1L;
    private static final long NONE = Long.MAX_VALUE;

    /** Set by the loop before it looks at the tasks a last time and sleeps; taken by whoever wakes it. */
    private final AtomicLong nextWakeupNanos = new AtomicLong(AWAKE);

    private final UcxWaitStrategy waitStrategy;
    private final AdaptiveSpin spin = new AdaptiveSpin(UcxWaitStrategy.spinNanos(), this::isCrowded);
    private final Crowd crowd = new Crowd(new RunQueue());
    private final IoShare share = new IoShare();
    private final LoopChannels channels = new LoopChannels();
    private final LoopCounters counters = new LoopCounters();
    /** Where there is a flight recorder, or {@code null}. */
    private final FlightEvents.Sleep recorder = FlightEvents.AVAILABLE ? new FlightEvents.Sleep() : null;
    /** Made by the loop's own thread when it starts: loops that are never used cost nothing. */
    private ProgressEngine engine;
    private LoopLanes lanes;
    /** The same; in tests, something that takes its place. */
    private EnginePort port;
    /** Whether the loop has ended: then it has none of them any more, and gets none. */
    private boolean destroyed;
    private boolean pending;
    /** Made once: where tasks never end it is added again and again. */
    private final Runnable turnAmongTasks = this::turnAmongTasks;
    private boolean isAmongTasks;
    private TaskView loopTasks;
    private int idleTurns;
    private long busySinceNanos;
    private long busySleepNanos;
    /** When the last sleep ended, if the last turn has slept. */
    private long wokenNanos;
    private boolean slept;

    /**
     * @param waitStrategy what the loop does while nothing happens
     * @throws IllegalArgumentException if a system property for loops is wrong, such as
     *                                  {@code io.github.nettyucx.spinMicros}
     */
    public IoDriver(UcxWaitStrategy waitStrategy) {
        this(waitStrategy, null);
        checkSettings();
        Ucx.prepare();
    }

    IoDriver(UcxWaitStrategy waitStrategy, EnginePort port) {
        this.waitStrategy = Objects.requireNonNull(waitStrategy, "waitStrategy");
        this.port = port;
    }

    /**
     * Looks at the system properties that every loop reads. Any thread may call.
     *
     * @throws IllegalArgumentException if one of them is wrong; its message begins with the property's name
     */
    public static void checkSettings() {
        UcxWaitStrategy.spinNanos();
        LoopLanes.checkSettings();
        Opening.PEER_TIMEOUT_SETTING.check();
        Opening.PLAIN_GRACE_SETTING.check();
        Opening.ANSWER_SETTING.check();
        OrderlyExit.TIMEOUT_SETTING.check();
    }

    // ------------------------------------------------------------------------------------------- channels

    /** What the loop has to move bytes with. */
    public LoopLanes lanes() throws IOException {
        if (lanes == null) {
            lanes = new LoopLanes(engine());
        }
        return lanes;
    }

    /** Everything that moves bytes for the loop. */
    public ProgressEngine engine() throws IOException {
        if (engine == null) {
            if (destroyed) {
                throw new IOException("the event loop has ended");
            }
            engine = new ProgressEngine(Thread.currentThread().getName(), counters.worker);
            port = engine;
            OrderlyExit.loopBegins();
        }
        return engine;
    }

    /** What this loop has done so far. Any thread may call. */
    public UcxMetrics metrics() {
        return new UcxMetrics(List.of(counters));
    }

    private EnginePort port() throws IOException {
        return port == null ? engine() : port;
    }

    /** Takes note of a channel that is being registered with the loop, until the registration is cancelled. */
    public LoopRegistration register(Channel channel) {
        channels.add(channel);
        if (channel instanceof UcxSocketChannel socket) {
            socket.countBy(counters);
        }
        return new LoopRegistration() {

            @Override
            public LoopLanes lanes() throws IOException {
                return IoDriver.this.lanes();
            }

            @Override
            public void cancel() {
                channels.remove(channel);
            }
        };
    }

    /** How many channels are registered. Another thread's answer may be out of date. */
    public int channelCount() {
        return channels.size();
    }

    /** The registered channels at this moment; a list that refuses changes. */
    public List<Channel> channels() {
        return channels.copy();
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /**
     * One turn: takes what has arrived and completed, and does what the wait strategy says if that was nothing and no
     * task waits. An unexpected failure is logged. Where tasks never end, or take long, there are several, for as long as tasks
     * took before and there is something to do.
     * <p>
     * What has come in a sleep is taken in the same turn, before timers that have become due meanwhile: a process that was
     * stopped must not run the timers for what it has been sent long before.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    public int run(TaskView tasks) {
        boolean tasksRemain = tasks.remain();
        share.turnsBegin(tasksRemain);
        int last = turn(tasks);
        int work = last;
        while (!slept && share.isLeft(last)) {
            last = turn(tasks);
            work += last;
        }
        if (pending && port != null) {
            port.busy();
        }
        share.turnsEnd(pending || tasksRemain);
        if (tasksRemain) {
            runAmong(tasks);
        }
        return work;
    }

    /**
     * Netty's loops run 64 tasks, or more, before they look at the clock. So input and output has its turn also as one of
     * those that never end; epoll's channels read on in the same way. Where it is the only one, it ends.
     */
    private void runAmong(TaskView tasks) {
        if (!isAmongTasks) {
            loopTasks = tasks;
            isAmongTasks = true;
            isAmongTasks = tasks.addLast(turnAmongTasks);
        }
    }

    private void turnAmongTasks() {
        isAmongTasks = false;
        if (!destroyed && loopTasks.remain()) {
            if (share.isDue()) {
                run(loopTasks);
            } else {
                runAmong(loopTasks);
            }
        }
    }

    private int turn(TaskView tasks) {
        boolean sleepsAgain = slept && sleepsNext();
        slept = false;
        try {
            if (sleepsAgain) {
                port().sleepsNext();
            }
            int work = take(tasks);
            if (work == 0 && !pending) {
                if (!shouldPark()) {
                    Thread.onSpinWait();
                } else if (park(tasks)) {
                    slept = true;
                    work = take(tasks);
                }
            }
            // Timers must not run before what has come before they were due: the process may have been stopped.
            return sleepsAgain && !slept ? work + port().makeUp() : work;
        } catch (Error e) {
            throw e;
        } catch (Throwable t) {
            handleLoopException(t);
            // The turn may have failed before it looked. Whoever waits for a task has to hear of it.
            pending = true;
            return 0;
        }
    }

    private int take(TaskView tasks) throws IOException {
        int work = port().poll();
        pending = tasks.isPending(work == 0 && ++idleTurns % IDLE_TURNS_PER_CLOCK_READ != 0);
        if (work != 0 || pending) {
            spin.worked();
            busySinceNanos = 0;
        }
        return work;
    }

    /**
     * When the last {@link #run} has begun to work: a sleep does not count.
     *
     * @param calledNanos when it was called
     */
    public long workingSince(long calledNanos) {
        return slept ? wokenNanos : calledNanos;
    }

    /** Whether the last {@link #run} has slept. */
    public boolean hasSlept() {
        return slept;
    }

    /** Whether the last {@link #run} has seen that a task waits, or a timer is due, or could not look. */
    public boolean isPending() {
        return pending;
    }

    /**
     * Another thread of the process has been given something to do, and may have no processor but the loop's: with
     * {@link UcxWaitStrategy#ADAPTIVE} the loop sleeps, once, as soon as it has nothing to do.
     */
    public void rest() {
        spin.rest();
    }

    /** Whether the loop is going to sleep as soon as it finds nothing to do. */
    private boolean sleepsNext() {
        return switch (waitStrategy) {
            case BUSY_SPIN -> false;
            case PARK -> true;
            case ADAPTIVE -> spin.sleepsNext();
        };
    }

    private boolean isCrowded() {
        return engine != null && crowd.isCrowded(Runtime.getRuntime().availableProcessors(), engine.workerCount() > 0);
    }

    private boolean shouldPark() {
        return switch (waitStrategy) {
            case BUSY_SPIN -> false;
            case PARK -> true;
            case ADAPTIVE -> !spin.again();
        };
    }

    /** @return whether it has slept */
    private boolean park(TaskView tasks) throws IOException {
        long deadline = tasks.deadlineNanos();
        nextWakeupNanos.set(deadline == -1 ? NONE : deadline);
        try {
            // Whoever adds a task from here on sees that the loop is about to sleep, and wakes it.
            if (tasks.isPending(false)) {
                pending = true;
                return false;
            }
            // There is no task, also not the one that is the loop's turn: who rejects tasks can have dropped it.
            isAmongTasks = false;
            long timeout = deadline == -1 ? -1 : Math.max(0, tasks.delayNanos());
            if (port.arm()) {
                busySinceNanos = 0;
                long since = System.nanoTime();
                sleep(timeout);
                wokenNanos = System.nanoTime();
                spin.slept(wokenNanos - since);
                return true;
            }
            counters.parkRefused();
            if (!isLongBusy()) {
                return false;
            }
            sleep(timeout < 0 ? busySleepNanos : Math.min(timeout, busySleepNanos));
            wokenNanos = System.nanoTime();
            busySleepNanos = Math.min(LAST_BUSY_SLEEP_NANOS, 2 * busySleepNanos);
            return true;
        } finally {
            nextWakeupNanos.set(AWAKE);
        }
    }

    private void sleep(long timeoutNanos) throws IOException {
        if (recorder != null) {
            recorder.begins();
        }
        port.await(timeoutNanos);
        boolean woken = nextWakeupNanos.get() == AWAKE;
        counters.parked(woken);
        crowd.slept(woken);
        if (Thread.interrupted()) {
            // A loop ends by being shut down. With the mark each file that a channel sends would be closed.
            logger.debug("The interrupt of an event loop has no effect.");
        }
        if (recorder != null) {
            recorder.ends(woken);
        }
    }

    private boolean isLongBusy() {
        long now = System.nanoTime();
        if (busySinceNanos == 0) {
            busySinceNanos = now;
            busySleepNanos = FIRST_BUSY_SLEEP_NANOS;
            return false;
        }
        return now - busySinceNanos > BUSY_NANOS;
    }

    /** Ends the sleep of the loop, if it sleeps or is about to. Any thread may call; the loop's own need not. */
    public void wakeup() {
        if (nextWakeupNanos.getAndSet(AWAKE) != AWAKE) {
            EnginePort sleeping = port;
            if (sleeping != null) {
                sleeping.wakeup();
            }
        }
    }

    /**
     * Whether the loop will look at its timers by that time of its clock without being woken. Any thread may call.
     */
    public boolean wakesBefore(long deadlineNanos) {
        return nextWakeupNanos.get() <= deadlineNanos;
    }

    /** Logs an unexpected failure. One that comes back in every turn must not take the whole processor. */
    static void handleLoopException(Throwable t) {
        logger.warn("Unexpected exception in the event loop.", t);
        try {
            Thread.sleep(1000);
        } catch (InterruptedException e) {
            // The loop ends by being shut down, not by an interrupt.
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** Closes all channels, in good order: those that have something to deliver do so, see {@link #isLingering()}. */
    public void closeAll() {
        channels.closeAll();
    }

    /** Whether a closed channel still has something to deliver, be it only its end; it does so for a bounded time. */
    public boolean isLingering() {
        return channels.isLingering() || lanes != null && lanes.hasDepartures();
    }

    /** Ends the wait for the peers of closed channels; what they have not taken is lost. */
    public void cutLingering() {
        channels.cutLingering();
        departures().forEach(Departure::cut);
    }

    private List<Departure> departures() {
        return lanes == null ? List.of() : lanes.departures();
    }

    /**
     * Closes all channels, and stays until those that have something to deliver have done so, or the time is over. For
     * loops that end as soon as this turn does; what else they have to do, timers included, waits.
     */
    public void closeAllAndLinger(long limitNanos) {
        closeAll();
        long deadline = System.nanoTime() + limitNanos;
        while (isLingering()) {
            if (System.nanoTime() - deadline >= 0) {
                cutLingering();
                return;
            }
            try {
                if (port().poll() == 0) {
                    channels.checkLingering();
                    departures().forEach(Departure::checkTimeout);
                    nap();
                }
            } catch (IOException | RuntimeException e) {
                handleLoopException(e);
            }
        }
    }

    private void nap() throws IOException {
        if (port.arm()) {
            port.await(LINGER_SLEEP_NANOS);
        } else {
            // Perhaps for long, see BUSY_NANOS.
            LockSupport.parkNanos(LINGER_PAUSE_NANOS);
        }
    }

    /**
     * Closes all channels at once, whatever they still have to deliver. For a loop that has had its last turn and still
     * runs tasks, which tell the channels' handlers.
     */
    public void abandonAll() {
        channels.abandonAll();
    }

    /** The same as {@link #destroy(long)}, without a wait for what channels have to deliver. */
    public void destroy() {
        destroy(0);
    }

    /**
     * Closes all channels that are still open, and gives everything back: whoever still has the loop keeps
     * nothing but counts. For a loop that takes no tasks any more: they may have kept it from being told to end before, or
     * have given it more channels since.
     *
     * @param limitNanos how long channels may deliver what they have flushed
     */
    public void destroy(long limitNanos) {
        try {
            if (limitNanos > 0) {
                closeAllAndLinger(limitNanos);
            }
            abandonAll();
            channels.tellEnd();
        } finally {
            try {
                if (lanes != null) {
                    lanes.close();
                }
            } finally {
                closeEngine();
            }
        }
    }

    private void closeEngine() {
        try {
            if (engine != null) {
                OrderlyExit.loopEnds();
                engine.close();
            }
        } finally {
            destroyed = true;
            // Closed ones that the loop took no task of any more to deregister.
            channels.clear();
            lanes = null;
            engine = null;
            port = null;
        }
    }
}
