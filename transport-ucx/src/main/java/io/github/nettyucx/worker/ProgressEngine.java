// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.IoVector;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.ucp.UcpBinding;
import io.github.nettyucx.ucp.UcpWorker;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Everything that moves bytes for one event loop: its UCX workers, its sockets, their turn, and the wait for the next
 * event.
 * <p>
 * Workers are made when the first link needs them, and are given back when nobody uses them any more. Peers that use
 * shared memory have a worker for each of their processes: one that is killed while it writes leaves a hole in the
 * receiver's queue, behind which that worker receives nothing more from anybody.
 * <p>
 * An event loop of any shape drives it: {@link #poll()} until there is nothing to do, {@link #arm()}, and
 * {@link #await(long)} when that has succeeded. All methods but {@link #wakeup()} belong to the loop's thread.
 */
public final class ProgressEngine implements EnginePort, AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ProgressEngine.class);

    /** A loop that never sleeps looks for unused workers as well, but not in every turn. */
    private static final int TURNS_PER_COLLECTION = 4096;
    /** So often it looks whether somebody waits to be told in time. */
    private static final int TURNS_PER_LOOK = 64;
    private static final long COLLECTION_NANOS = TimeUnit.MILLISECONDS.toNanos(125);

    /** Of one writing call, in entries: what the kernel takes at most (UIO_MAXIOV). */
    private static final int IOV_MAX = 1024;

    /** How long {@link #close()} lets UCX complete what was in flight on the closed links. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final String name;
    private final Epoll epoll;
    private final Counters<WorkerCounter> counters;
    private final Registration registration;
    private final SendBufferPool sendBuffers;
    /** Of the kinds of links that have some. */
    private final Map<LinkKind, RegisteredMemory> registered = new EnumMap<>(LinkKind.class);
    /** The same; an array because the loop asks each time before it sleeps. */
    private RegisteredMemory[] registeredOnes = {};
    private final PipePool pipes = new PipePool();
    private final List<IdleCollector> collectors = new ArrayList<>();
    private final WatchedSockets sockets;
    private final ArrayDeque<Runnable> ready = new ArrayDeque<>();
    /** All workers; an array because every turn goes through it. */
    private Worker[] workers = new Worker[0];
    private final Map<WorkerKey, Worker> current = new HashMap<>();
    private final IntObjectMap<Boolean> channelIds = new IntObjectHashMap<>();
    private IoVector ioVector;
    private long nextCollectionNanos;
    private int turnsToCollection = TURNS_PER_COLLECTION;
    private int turn;

    /**
     * Which links share a worker.
     *
     * @param serving whether the peers connect to this side. In each of the two roles a pair of workers makes its links
     *                in the same order on both sides, because one side alone decides when: by that order UCX matches the
     *                two endpoints of a link
     * @param process of the peer, where it has a worker of its own; else {@code null}
     */
    private record WorkerKey(LinkKind kind, boolean serving, Object process) {

        // Written out: the JVM makes those of a record at the first call, which the first connection would wait for.

        @Override
        public boolean equals(Object other) {
            return other instanceof WorkerKey key && kind == key.kind && serving == key.serving
                    && Objects.equals(process, key.process);
        }

        @Override
        public int hashCode() {
            return (31 * kind.ordinal() + Boolean.hashCode(serving)) * 31 + Objects.hashCode(process);
        }
    }

    /** @throws IllegalArgumentException if a system property for the buffers of loops is wrong */
    public static void checkSettings() {
        SendBufferPool.CAPACITY_SETTING.check();
        ReceivePool.SIZE_SETTING.check();
        Registration.configured();
    }

    /**
     * @param counters that this loop's thread writes from now on
     */
    public ProgressEngine(String name, Counters<WorkerCounter> counters) throws IOException {
        this(name, counters, Registration.configured());
    }

    ProgressEngine(String name, Counters<WorkerCounter> counters, Registration registration) throws IOException {
        this.name = name;
        this.counters = counters;
        this.registration = registration;
        sendBuffers = new SendBufferPool(counters);
        epoll = new Epoll();
        sockets = new WatchedSockets(epoll);
        UcpBinding.retain();
        HoledQueues.add(this);
    }

    // ------------------------------------------------------------------------------------------- workers

    /**
     * The worker for new links.
     *
     * @param serving whether the peer has connected to this side
     * @param process of the peer, if it is to have a worker of its own, or {@code null}
     */
    public Worker worker(LinkKind kind, boolean serving, Object process) throws IOException {
        WorkerKey key = new WorkerKey(kind, serving, process);
        if (!hasWorker(kind, serving, process)) {
            current.put(key, newWorker(kind, serving ? "serving" : "connecting"));
        }
        return current.get(key);
    }

    /** Whether {@link #worker} would give one that is there already. */
    public boolean hasWorker(LinkKind kind, boolean serving, Object process) {
        Worker worker = current.get(new WorkerKey(kind, serving, process));
        return worker != null && !worker.isRetired();
    }

    private Worker newWorker(LinkKind kind, String role) throws IOException {
        String full = name + '/' + kind.name().toLowerCase(java.util.Locale.ROOT) + '/' + role;
        UcpWorker ucx = UcxRuntime.newWorker(kind, full);
        Worker worker;
        try {
            worker = new Worker(this, full, kind, ucx, registered(kind));
        } catch (Throwable t) {
            ucx.close();
            throw t;
        }
        try {
            sockets.watch(worker);
        } catch (Throwable t) {
            worker.close();
            throw t;
        }
        workers = Arrays.copyOf(workers, workers.length + 1);
        workers[workers.length - 1] = worker;
        counters.increment(WorkerCounter.WORKERS_CREATED);
        return worker;
    }

    private boolean collectWorkers(long now) {
        boolean changed = false;
        for (Worker worker : workers) {
            changed |= worker.collect(now);
            if (worker.isDisposable(now)) {
                destroy(worker);
                changed = true;
            }
        }
        return changed;
    }

    private void destroy(Worker worker) {
        List<Worker> rest = new ArrayList<>(List.of(workers));
        rest.remove(worker);
        workers = rest.toArray(new Worker[0]);
        current.values().remove(worker);
        sockets.unwatch(worker);
        worker.close();
        counters.increment(WorkerCounter.WORKERS_DESTROYED);
    }

    /** An id that no other channel of this loop has. Random over the whole range: hard to guess, and not soon used again. */
    public int newChannelId() {
        int id;
        do {
            id = KernelRandom.nextInt();
        } while (id == 0 || channelIds.containsKey(id));
        channelIds.put(id, Boolean.TRUE);
        return id;
    }

    /** Gives back what {@link #newChannelId()} gave. */
    public void releaseChannelId(int id) {
        channelIds.remove(id);
    }

    /** Has something that the loop keeps for a while looked at now and then. */
    public void addCollector(IdleCollector collector) {
        collectors.add(Objects.requireNonNull(collector, "collector"));
    }

    // ------------------------------------------------------------------------------------------- sockets

    /**
     * Tells {@code watcher} of a socket's events, until {@link #unwatch}.
     *
     * @param interest of {@link Epoll}; {@code ERR} and {@code HUP} always come
     */
    public void watch(KernelSocket socket, int interest, SocketWatcher watcher) throws IOException {
        sockets.watch(socket, interest, watcher);
    }

    /** Tells somebody else of the socket's events from now on. Does nothing if it is not watched. */
    public void rewatch(KernelSocket socket, SocketWatcher watcher) {
        sockets.rewatch(socket, watcher);
    }

    /** To be called before the socket is closed. Does nothing if it is not watched. */
    public void unwatch(KernelSocket socket) {
        sockets.unwatch(socket);
    }

    /** Bytes go over a socket: the loop looks at its sockets in every turn for a while. */
    public void noteSocketWork() {
        sockets.noteWork();
    }

    @Override
    public void busy() {
        sockets.noteBusy();
    }

    @Override
    public void sleepsNext() {
        sockets.leaveLookToSleep();
    }

    @Override
    public int makeUp() {
        int told = sockets.makeUpForLook();
        return told == 0 ? 0 : told + runReady();
    }

    /** By which files get into sockets and send buffers. */
    public PipePool pipes() {
        return pipes;
    }

    /** For one writing call; what it holds is forgotten when that has returned. */
    public IoVector ioVector() {
        if (ioVector == null) {
            ioVector = new IoVector(IOV_MAX);
        }
        return ioVector;
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /** Has {@code work} run once, after the messages of this turn have been taken. */
    public void schedule(Runnable work) {
        ready.addLast(work);
    }

    /** Runs what is one channel's matter: what it throws must not end the turn of the others. */
    void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | OutOfMemoryError e) {
            log(e);
        }
    }

    static void log(Throwable thrown) {
        logger.warn("Unexpected exception in the turn of a channel.", thrown);
    }

    /**
     * One turn: takes what has arrived and completed on all workers and sockets, and runs what is ready because of it.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    @Override
    public int poll() {
        turn++;
        if (--turnsToCollection == 0 || turn % TURNS_PER_LOOK == 0 && (isAnythingDue() || isAnyWorkerWatching())) {
            turnsToCollection = TURNS_PER_COLLECTION;
            collect();
        }
        int work = 0;
        Worker[] all = workers;
        for (Worker worker : all) {
            work += worker.poll();
        }
        work += sockets.poll(work, workers.length > 0);
        return work + runReady();
    }

    /** Work that is scheduled by this work waits for the next turn, so that no channel starves the others. */
    private int runReady() {
        int runs = ready.size();
        for (int n = runs; n > 0; n--) {
            guarded(ready.pollFirst());
        }
        if (runs > 0 && workers.length > 0) {
            sockets.noteRun();
        }
        return runs;
    }

    /** A number that the turn has which goes on, together with the tasks after it, and others that are near do not have. */
    public int turn() {
        return turn;
    }

    /**
     * Prepares to block.
     *
     * @return whether the loop may block; if not, there is something to do already
     */
    @Override
    public boolean arm() throws IOException {
        // Who is told that memory is not used any more can have given the loop a task, at which it has looked before.
        if (collect() || !ready.isEmpty()) {
            return false;
        }
        for (Worker worker : workers) {
            if (!worker.arm()) {
                return false;
            }
        }
        return true;
    }

    /** @return whether operations have completed, or a worker has gone */
    private boolean collect() {
        // What was registered can outlive its workers.
        if (workers.length == 0 && registered.isEmpty()) {
            return false;
        }
        long now = System.nanoTime();
        if (now - nextCollectionNanos >= 0) {
            nextCollectionNanos = now + COLLECTION_NANOS;
            for (IdleCollector collector : collectors) {
                collector.collect(now);
            }
            registered.values().forEach(RegisteredMemory::collect);
            return collectWorkers(now);
        }
        return false;
    }

    /**
     * The longest time to block that still lets unused workers go, and others be told, in time; at most {@code timeoutNanos}.
     */
    private long boundByCollection(long timeoutNanos) {
        long bound = isAnythingDue() ? COLLECTION_NANOS : isAnythingIdle() ? Worker.IDLE_NANOS : Long.MAX_VALUE;
        return bound != Long.MAX_VALUE && (timeoutNanos < 0 || timeoutNanos > bound) ? bound : timeoutNanos;
    }

    private boolean isAnythingDue() {
        for (int i = 0; i < collectors.size(); i++) {
            if (collectors.get(i).hasDue()) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnyWorkerWatching() {
        for (Worker worker : workers) {
            if (worker.isWatching()) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnythingIdle() {
        for (RegisteredMemory memory : registeredOnes) {
            if (memory.hasRetired()) {
                return true;
            }
        }
        for (Worker worker : workers) {
            if (worker.isUnused()) {
                return true;
            }
        }
        if (isAnyWorkerWatching()) {
            return true;
        }
        // By index: a loop that sleeps after each message would make an iterator for each.
        for (int i = 0; i < collectors.size(); i++) {
            if (collectors.get(i).hasIdle()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Blocks until a worker or a socket has an event, {@link #wakeup()} is called or the time is over.
     *
     * @param timeoutNanos negative for no limit
     */
    @Override
    public void await(long timeoutNanos) throws IOException {
        sockets.fetched(epoll.await(boundByCollection(timeoutNanos)));
    }

    /** Ends a running or the next {@link #await(long)}. Any thread may call. */
    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    Counters<WorkerCounter> counters() {
        return counters;
    }

    public SendBufferPool sendBuffers() {
        return sendBuffers;
    }

    /** The send buffers for links of a kind, of which there must be a worker before one is taken. */
    public SendBufferPool sendBuffers(LinkKind kind) {
        RegisteredMemory memory = registered(kind);
        return memory == null ? sendBuffers : memory.sendBuffers();
    }

    /** @return {@code null} for links that need none */
    private RegisteredMemory registered(LinkKind kind) {
        if (!registration.appliesTo(kind)) {
            return null;
        }
        RegisteredMemory memory = registered.get(kind);
        if (memory == null) {
            memory = new RegisteredMemory(kind, counters);
            registered.put(kind, memory);
            registeredOnes = registered.values().toArray(new RegisteredMemory[0]);
        }
        return memory;
    }

    /** UCX workers that this loop has at the moment. */
    public int workerCount() {
        return workers.length;
    }

    /** Operations whose channels are gone and that UCX has not completed yet. */
    public int orphanCount() {
        int count = 0;
        for (Worker worker : workers) {
            count += worker.orphanCount();
        }
        return count;
    }

    /** Gives everything back. All channels must have been closed, and all links. */
    @Override
    public void close() {
        long deadline = System.nanoTime() + CLOSE_NANOS;
        while (!allQuiet() && System.nanoTime() - deadline < 0) {
            poll();
        }
        for (Worker worker : workers) {
            if (!worker.isUnused()) {
                logger.warn("{} still has open links after {} s; it is left to the end of the process.",
                        worker, TimeUnit.NANOSECONDS.toSeconds(CLOSE_NANOS));
                registered.values().remove(worker.registered());
                continue;
            }
            worker.close();
            counters.increment(WorkerCounter.WORKERS_DESTROYED);
        }
        workers = new Worker[0];
        HoledQueues.remove(this);
        current.clear();
        sockets.clear();
        collectors.clear();
        registered.values().forEach(RegisteredMemory::close);
        sendBuffers.close();
        pipes.close();
        if (ioVector != null) {
            ioVector.close();
        }
        epoll.close();
        UcpBinding.release();
    }

    private boolean allQuiet() {
        for (Worker worker : workers) {
            if (!worker.isQuiet()) {
                return false;
            }
        }
        return true;
    }
}
