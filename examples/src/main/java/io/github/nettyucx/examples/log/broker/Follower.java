// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.storage.LogException;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
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
    private final long patienceNanos;
    private final LinkedBlockingQueue<Task> created = new LinkedBlockingQueue<>();
    /** For the thread only, as what follows it. */
    private final List<Task> tasks = new ArrayList<>();
    private final Thread thread;
    private String lastProblem = "";
    private volatile boolean closed;

    /**
     * @param loop the leader's
     * @param patience how long it may be without an answer
     */
    Follower(TransportKind transport, HostAndPort address, EventExecutor loop, Duration patience) {
        this.transport = transport;
        this.address = address;
        this.loop = loop;
        patienceNanos = patience.toNanos();
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
                try (var connection = LogConnection.open(transport, address)) {
                    serve(connection);
                } catch (LogException e) {
                    tell(e);
                    Thread.sleep(LATER_MILLIS);
                } catch (ExampleFailure | IOException | ExecutionException e) {
                    tell(e);
                    Thread.sleep(RETRY_MILLIS);
                }
            } catch (InterruptedException | RejectedExecutionException e) {
                // The leader ends.
                return;
            }
        }
    }

    /** Once, not each time it is tried. */
    private void tell(Exception failure) {
        var problem = Explanation.of(failure);
        if (!problem.equals(lastProblem)) {
            lastProblem = problem;
            System.err.println("follower " + address + ": " + problem);
        }
    }

    /** Until the connection ends. */
    private void serve(LogConnection connection) throws InterruptedException, IOException, ExecutionException {
        try {
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
                if (!await(loop.submit(this::isInSync))) {
                    throw new IOException("it has left those that are in sync, and begins again");
                }
            }
            throw new IOException("the connection has ended");
        } finally {
            // Before the connection is closed: nothing is to be written to it then.
            loop.submit(() -> followed().forEach(one -> one.forget(this))).await();
        }
    }

    /** On the leader's event loop, while the thread waits. */
    private boolean isInSync() {
        followed().forEach(one -> one.dropIfSilent(this, patienceNanos));
        return followed().allMatch(one -> one.has(this));
    }

    private Stream<Followers> followed() {
        return tasks.stream().flatMap(task -> task.partitions.stream()).map(Partition::followers);
    }

    private void catchUp(LogConnection connection, Task task) throws InterruptedException, IOException, ExecutionException {
        var first = await(connection.openTopic(task.topic, task.partitions.size()));
        for (var i = 0; i < task.partitions.size(); i++) {
            catchUp(connection, task.partitions.get(i), first + i);
        }
    }

    private void catchUp(LogConnection connection, Partition partition, int number)
            throws InterruptedException, IOException, ExecutionException {
        // From then on nobody else writes: neither others, nor an earlier connection of this leader.
        var producer = await(connection.memoryProducer(number, AccessMode.EXCLUSIVE));
        var next = await(connection.messageConsumer(number, 0).end());
        requireSame(connection, partition, number, next, producer);
        while (true) {
            var from = next;
            var step = await(loop.submit(() -> partition.followers().follow(this, producer, from)));
            if (step == null) {
                return;
            }
            await(step.sent);
            next += step.count;
        }
    }

    /** A log is only appended to: if the last record of one is in the other, so are those before. */
    private void requireSame(LogConnection connection, Partition partition, int number, long next, Producer producer)
            throws InterruptedException, IOException, ExecutionException {
        if (producer.maxLength() < partition.followers().maxBatch()) {
            throw new LogException("its segments are too short: it takes " + producer.maxLength() + " bytes at once "
                    + "(expected: at least " + partition.followers().maxBatch() + "). Start it with --segment.");
        }
        if (next == 0) {
            return;
        }
        var last = await(connection.messageConsumer(number, next - 1).poll(0)).getFirst();
        if (!await(loop.submit(() -> partition.followers().hasRecord(last.offset(), last.payload())))) {
            throw new LogException("its record " + last.offset() + " is not that of the leader: somebody else has"
                    + " written to it. Give it an empty directory, and it gets all of them.");
        }
    }

    private <T> T await(Future<T> future) throws InterruptedException, IOException, ExecutionException {
        if (!future.await(patienceNanos, TimeUnit.NANOSECONDS)) {
            throw new IOException("it has not answered within " + Duration.ofNanos(patienceNanos).toMillis() + " ms");
        }
        if (future.cause() instanceof IOException e) {
            throw e;
        }
        if (!future.isSuccess()) {
            throw new ExecutionException(future.cause());
        }
        return future.getNow();
    }

    /** When the leader's event loop has ended. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
