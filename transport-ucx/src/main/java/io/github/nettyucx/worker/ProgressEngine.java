// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.worker.UcxRuntime.Family;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Everything of UCX that one event loop owns: its workers, their turn, and the wait for the next event.
 * <p>
 * Connections share the loop's main worker, with one exception: peers on the same host, which use shared memory, have
 * a worker for each of their processes, because the death of one can jam the worker that it wrote to
 * ({@link Worker#isRetired()}). Such a worker is given back when it is no longer used. What is connected to other hosts
 * shares a worker that has no shared memory.
 * <p>
 * An event loop of any shape drives it: {@link #poll()} until there is nothing to do, {@link #arm()}, and
 * {@link #await(long)} when that has succeeded. All methods but {@link #wakeup()} belong to the loop's thread.
 */
public final class ProgressEngine implements EnginePort, AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ProgressEngine.class);

    /** A loop that never sleeps looks for unused workers as well, but not in every turn. */
    private static final int TURNS_PER_COLLECTION = 4096;

    /** Beyond this many same-host workers of one loop, new processes share the main worker: each costs about 4 MB. */
    private static final int MAX_PEER_WORKERS = 64;

    /** How long {@link #close()} lets UCX complete what was in flight on the closed endpoints. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final String name;
    private final EventPoller poller;
    private final Counters<WorkerCounter> counters;
    private final SendBufferPool sendBuffers;
    private final ArrayDeque<Runnable> ready = new ArrayDeque<>();
    /** All workers; an array because every turn goes through it. */
    private Worker[] workers = new Worker[0];
    private final Map<PeerKey, Worker> peerWorkers = new HashMap<>();
    private final Map<Family, Worker> mainWorkers = new EnumMap<>(Family.class);
    /** Those for connections that are made to other hosts. */
    private final Map<Family, Worker> remoteWorkers = new EnumMap<>(Family.class);
    private long nextCollectionNanos;
    private int turnsToCollection = TURNS_PER_COLLECTION;

    /**
     * @param counters that this loop's thread writes from now on
     */
    public ProgressEngine(String name, Counters<WorkerCounter> counters) throws IOException {
        this.name = name;
        this.counters = counters;
        sendBuffers = new SendBufferPool(counters);
        poller = new EventPoller();
    }

    // ------------------------------------------------------------------------------------------- workers

    /** A process on this host: by its address when we connect to it, by its client id when it connects to us. */
    private record PeerKey(Family family, Object process) {
    }

    /** The worker for connections to {@code remote}. */
    public Worker workerForConnecting(InetSocketAddress remote) throws IOException {
        Family family = Family.of(remote.getAddress());
        return HostIdentity.isSameHost(remote.getAddress())
                ? peerWorker(new PeerKey(family, remote)) : remoteWorker(family);
    }

    /**
     * The worker for connections that a listener on {@code local} was asked for by the process that calls itself
     * {@code clientId}.
     */
    public Worker workerForAccepting(InetAddress local, long clientId) throws IOException {
        Family family = Family.of(local);
        return HostIdentity.isSameHost(clientId)
                ? peerWorker(new PeerKey(family, clientId)) : mainWorker(family);
    }

    /** The worker for listeners on {@code local}. */
    public Worker workerForListening(InetAddress local) throws IOException {
        return mainWorker(Family.of(local));
    }

    private Worker mainWorker(Family family) throws IOException {
        return keptWorker(mainWorkers, family, true, "main");
    }

    private Worker remoteWorker(Family family) throws IOException {
        return keptWorker(remoteWorkers, family, false, "remote");
    }

    private Worker keptWorker(Map<Family, Worker> kept, Family family, boolean local, String kind) throws IOException {
        Worker worker = kept.get(family);
        if (worker == null) {
            worker = newWorker(family, local, kind);
            kept.put(family, worker);
        }
        return worker;
    }

    /** Whether it stays when nobody uses it. */
    private boolean isKept(Worker worker) {
        return mainWorkers.containsValue(worker) || remoteWorkers.containsValue(worker);
    }

    private int keptCount() {
        return mainWorkers.size() + remoteWorkers.size();
    }

    private Worker peerWorker(PeerKey key) throws IOException {
        Worker worker = peerWorkers.get(key);
        if (worker != null && !worker.isRetired()) {
            return worker;
        }
        if (workers.length - keptCount() >= MAX_PEER_WORKERS) {
            return mainWorker(key.family());
        }
        worker = newWorker(key.family(), true, "peer");
        peerWorkers.put(key, worker);
        return worker;
    }

    private Worker newWorker(Family family, boolean local, String kind) throws IOException {
        DescriptorReserve.PROCESS.beginWorker();
        String full = name + '/' + kind;
        Worker worker = new Worker(this, full, UcxRuntime.newWorker(family, local, full));
        try {
            poller.add(worker.eventFd());
        } catch (IOException e) {
            worker.close();
            throw e;
        }
        workers = Arrays.copyOf(workers, workers.length + 1);
        workers[workers.length - 1] = worker;
        counters.increment(WorkerCounter.WORKERS_CREATED);
        return worker;
    }

    /** Destroys same-host workers that have no connections: retired ones at once, others when they stay unused. */
    private void collectWorkers(long now) {
        for (Worker worker : workers) {
            if (!isKept(worker) && worker.isDisposable(now)) {
                peerWorkers.values().remove(worker);
                destroy(worker);
            }
        }
    }

    private void destroy(Worker worker) {
        List<Worker> rest = new ArrayList<>(List.of(workers));
        rest.remove(worker);
        workers = rest.toArray(new Worker[0]);
        try {
            poller.remove(worker.eventFd());
        } catch (IOException e) {
            logger.warn("Failed to stop watching a worker's descriptor.", e);
        }
        worker.close();
        counters.increment(WorkerCounter.WORKERS_DESTROYED);
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /** Has {@code work} run once, after the messages of this turn have been taken. */
    public void schedule(Runnable work) {
        ready.addLast(work);
    }

    /**
     * One turn: takes what has arrived and completed on all workers, and runs what is ready because of it.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    @Override
    public int poll() {
        if (--turnsToCollection == 0) {
            turnsToCollection = TURNS_PER_COLLECTION;
            collect();
        }
        int work = 0;
        Worker[] all = workers;
        for (Worker worker : all) {
            work += worker.poll();
        }
        // Work that is scheduled by this work waits for the next turn, so that no channel starves the others.
        for (int n = ready.size(); n > 0; n--) {
            ready.pollFirst().run();
            work++;
        }
        return work;
    }

    /**
     * Prepares to block.
     *
     * @return whether the loop may block; if not, there is something to do already
     */
    @Override
    public boolean arm() throws IOException {
        collect();
        if (!ready.isEmpty()) {
            return false;
        }
        for (Worker worker : workers) {
            if (!worker.arm()) {
                return false;
            }
        }
        return true;
    }

    private void collect() {
        if (workers.length == keptCount()) {
            return;
        }
        long now = System.nanoTime();
        if (now - nextCollectionNanos >= 0) {
            nextCollectionNanos = now + Worker.IDLE_NANOS / 8;
            collectWorkers(now);
        }
    }

    /**
     * The longest time to block that still lets unused workers go in time, at most {@code timeoutNanos}.
     */
    private long boundByCollection(long timeoutNanos) {
        for (Worker worker : workers) {
            if (worker.isUnused() && !isKept(worker)) {
                return timeoutNanos < 0 ? Worker.IDLE_NANOS : Math.min(timeoutNanos, Worker.IDLE_NANOS);
            }
        }
        return timeoutNanos;
    }

    /**
     * Blocks until a worker has an event, {@link #wakeup()} is called or the time is over.
     *
     * @param timeoutNanos negative for no limit
     */
    @Override
    public void await(long timeoutNanos) throws IOException {
        poller.await(boundByCollection(timeoutNanos));
    }

    /** Ends a running or the next {@link #await(long)}. Any thread may call. */
    @Override
    public void wakeup() {
        poller.wakeup();
    }

    Counters<WorkerCounter> counters() {
        return counters;
    }

    public SendBufferPool sendBuffers() {
        return sendBuffers;
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

    /** Operations that UCX has not completed yet: of connections, and of channels that are gone. */
    public int operationCount() {
        int count = 0;
        for (Worker worker : workers) {
            count += worker.operationCount();
        }
        return count;
    }

    /** Gives everything back. All endpoints and listeners must have been closed. */
    @Override
    public void close() {
        long deadline = System.nanoTime() + CLOSE_NANOS;
        while (!allQuiet() && System.nanoTime() - deadline < 0) {
            poll();
        }
        for (Worker worker : workers) {
            if (!worker.isUnused()) {
                logger.warn("{} still has open endpoints after {} s; it is left to the end of the process.",
                        worker, TimeUnit.NANOSECONDS.toSeconds(CLOSE_NANOS));
                continue;
            }
            worker.close();
            counters.increment(WorkerCounter.WORKERS_DESTROYED);
        }
        workers = new Worker[0];
        peerWorkers.clear();
        mainWorkers.clear();
        remoteWorkers.clear();
        sendBuffers.close();
        poller.close();
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
