// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.storage.LogException;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Brings one follower up to what the leader has, and has it written to from then on. A follower is a broker like any other;
 * the leader has each of its partitions for itself, as an exclusive producer. So what an earlier connection has left under
 * way is never mixed with what a later one writes. One that cannot be reached is tried again.
 */
final class Follower implements AutoCloseable {
    /** Nothing tells when a broker can be reached again: it is tried so often. {@link #close} ends each pause. */
    static final long RETRY_MILLIS = 200;
    /** Of one with which something is wrong that does not go by itself. */
    private static final long LATER_MILLIS = 5000;

    /** A topic of the leader's. */
    private record Task(String topic, List<Partition> partitions) { }

    /** One step of catching up: records that are on their way. */
    record Step(int count, Future<Long> sent) { }

    private final TransportKind transport;
    private final HostAndPort address;
    private final EventExecutor loop;
    private final Patience patience;
    private final Agreement agreement;
    private final CommitRule rule;
    private final LinkedBlockingQueue<Task> created = new LinkedBlockingQueue<>();
    /** For the thread only, as what follows it. */
    private final List<Task> tasks = new ArrayList<>();
    private final Thread thread;
    private String lastProblem = "";
    private volatile boolean closed;

    /**
     * @param loop the leader's
     * @param patience how long it may be without an answer
     * @param agreement about the records that it has already
     * @param rule is told when it is there, and when it is not
     */
    Follower(TransportKind transport, HostAndPort address, EventExecutor loop, Patience patience, Agreement agreement,
             CommitRule rule) {
        this.transport = transport;
        this.address = address;
        this.loop = loop;
        this.patience = patience;
        this.agreement = agreement;
        this.rule = rule;
        thread = Thread.ofPlatform().daemon().name("follower-" + address).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /** There is one more topic. Any thread may call. */
    void replicate(String topic, List<Partition> partitions) {
        created.add(new Task(topic, List.copyOf(partitions)));
    }

    private void run() {
        while (!closed) {
            try {
                try (var connection = LogConnection.open(transport, address, patience.duration())) {
                    serve(connection);
                } catch (LogException e) {
                    failed(e);
                    Thread.sleep(LATER_MILLIS);
                } catch (ExampleFailure | IOException | ExecutionException e) {
                    failed(e);
                    Thread.sleep(RETRY_MILLIS);
                } catch (RuntimeException | Error e) {
                    // Of what is not foreseen it is not known whether it comes again.
                    failed(e);
                    Thread.sleep(LATER_MILLIS);
                }
            } catch (InterruptedException | RejectedExecutionException e) {
                // The leader ends.
                return;
            }
        }
    }

    /** It is said once, not each time it is tried. */
    private void failed(Throwable failure) {
        loop.execute(() -> rule.lost(this));
        var problem = Explanation.of(failure);
        if (!problem.equals(lastProblem)) {
            lastProblem = problem;
            System.err.println("follower " + address + ": " + problem);
        }
    }

    /** Until the connection ends. */
    private void serve(LogConnection connection) throws InterruptedException, IOException, ExecutionException {
        try {
            agreement.begin(connection);
            for (var task : tasks) {
                catchUp(connection, task);
            }
            lastProblem = "";
            while (connection.isOpen()) {
                var task = created.poll(RETRY_MILLIS, TimeUnit.MILLISECONDS);
                if (task != null) {
                    tasks.add(task);
                    catchUp(connection, task);
                }
                // However long this side's own loop takes: that says nothing of the follower.
                if (!loop.submit(this::isInSync).get()) {
                    throw new IOException("it has left those that are in sync, and begins again");
                }
            }
            throw new IOException("the connection has ended");
        } finally {
            // Before the connection is closed, which takes its time if nobody is at the other end: nothing is to be written
            // to it then, and nobody is to wait for it.
            loop.submit(() -> {
                followed().forEach(one -> one.forget(this));
                rule.lost(this);
            }).await();
        }
    }

    /** On the leader's event loop, while the thread waits. */
    private boolean isInSync() {
        followed().forEach(one -> one.dropIfSilent(this, patience.duration().toNanos()));
        var isInSync = followed().allMatch(one -> one.has(this));
        if (isInSync) {
            rule.present(this);
        }
        return isInSync;
    }

    private Stream<Followers> followed() {
        return tasks.stream().flatMap(task -> task.partitions.stream()).map(Partition::followers);
    }

    private void catchUp(LogConnection connection, Task task) throws InterruptedException, IOException, ExecutionException {
        var first = patience.await(connection.openTopic(task.topic, task.partitions.size()));
        for (var i = 0; i < task.partitions.size(); i++) {
            catchUp(connection, task.partitions.get(i), first + i);
        }
    }

    private void catchUp(LogConnection connection, Partition partition, int number)
            throws InterruptedException, IOException, ExecutionException {
        var agreed = agreement.agree(connection, partition, number);
        var producer = agreed.producer();
        requireLongSegments(producer, partition.followers().maxBatch());
        var next = agreed.next();
        while (true) {
            var from = next;
            var step = patience.await(loop.submit(() -> partition.followers().follow(this, producer, from)));
            if (step == null) {
                return;
            }
            long offset = patience.await(step.sent);
            if (offset != next) {
                throw new LogException("it has record " + next + " as record " + offset);
            }
            next += step.count;
        }
    }

    private void requireLongSegments(Producer producer, int needed) throws LogException {
        if (producer.maxLength() < needed) {
            throw new LogException("its segments are too short: it takes " + producer.maxLength() + " bytes at once "
                    + "(expected: at least " + needed + "). Start it with --segment.");
        }
    }

    /** It writes no more; for the leader's event loop. What is under way may still come to be there. */
    void stop() {
        closed = true;
        thread.interrupt();
    }

    /** Whether its thread needs no more to be waited for. */
    boolean hasEnded() {
        return closed && !thread.isAlive();
    }

    boolean isStopped() {
        return closed;
    }

    /** When the leader's event loop has ended. */
    @Override
    public void close() {
        stop();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
