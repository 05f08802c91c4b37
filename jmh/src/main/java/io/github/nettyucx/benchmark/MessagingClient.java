// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.messaging.MessagingException;
import io.github.nettyucx.messaging.Node;
import io.github.nettyucx.messaging.Peer;
import io.github.nettyucx.messaging.ResponseHandler;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.HdrHistogram.AbstractHistogram;

/** Application threads that send messages or make calls, all to one peer. Not for an event loop. */
final class MessagingClient implements MeasuredClient {
    private static final Duration STALL = Duration.ofSeconds(60);
    private static final long SHUTDOWN_SECONDS = 5;

    private final Task task;
    private final Scenario scenario;
    private final MessagingWay way;
    private final Compilers compilers;
    private final Barrier barrier;
    private final EventLoopGroup group;
    private final long[] threads;
    private final ExecutorService senders;
    private final Messages messages;
    private final byte[] message;
    private final Node node;
    private final Peer peer;
    private final WritingChannel writing;
    private long sent;

    /** @param serverPid the server's process, which is on the same host */
    MessagingClient(Task task, MessagingWay way, HostAndPort server, long serverPid, Barrier barrier) throws Exception {
        this.task = task;
        this.way = way;
        this.barrier = barrier;
        scenario = task.scenario();
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        var transport = task.setting().transport();
        group = transport.newEventLoopGroup(1);
        senders = Executors.newFixedThreadPool(scenario.active());
        threads = LongStream.concat(LongStream.of(Loops.start(group)), LongStream.of(startSenders())).toArray();
        messages = new Messages(scenario.size());
        message = new byte[scenario.size()];
        var address = new InetSocketAddress(server.host(), server.port());
        if (way == MessagingWay.WRITE_AND_FLUSH) {
            writing = WritingChannel.connect(group, transport.socketChannel(), address, scenario);
            node = null;
            peer = null;
        } else {
            writing = null;
            node = Node.builder(Messages.CLIENT)
                    .transport(group, transport.socketChannel(), transport.serverSocketChannel())
                    .directory(_ -> address).start();
            peer = node.peer(Messages.SERVER);
            peer.request(Messages.AWAIT, 0L, STALL);
        }
    }

    /** @return the identifiers of their threads */
    private long[] startSenders() throws InterruptedException, ExecutionException {
        var ready = new java.util.concurrent.CyclicBarrier(scenario.active());
        var ids = new ArrayList<Future<Long>>();
        for (var i = 0; i < scenario.active(); i++) {
            ids.add(senders.submit(() -> {
                ready.await();
                return Thread.currentThread().threadId();
            }));
        }
        var threadIds = new long[ids.size()];
        for (var i = 0; i < threadIds.length; i++) {
            threadIds[i] = ids.get(i).get();
        }
        return threadIds;
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        var operations = Calibration.warmUp(scenario, compilers, count -> run(count, histograms()));
        var histograms = histograms();
        barrier.await();

        var before = ProcessState.now(threads);
        var seconds = run(operations, histograms) / 1e9;
        barrier.over();
        var after = ProcessState.now(threads);
        var total = operations * scenario.active();
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, total / seconds));
        if (scenario.work() == Work.MESSAGES) {
            figures.put(Metric.BANDWIDTH, total / seconds * scenario.size() / 1e9);
            return new ClientResult(new Sample(lane(), software(), total, seconds, figures, null, null), before, after);
        }
        var merged = Durations.merge(histograms);
        figures.putAll(Durations.figures(merged));
        return new ClientResult(new Sample(lane(), software(), total, seconds, figures, Durations.percentiles(merged),
                Durations.encode(merged)), before, after);
    }

    private String lane() {
        return task.setting().lane().toString();
    }

    private String software() {
        return task.setting().transport().software();
    }

    private List<AbstractHistogram> histograms() {
        return IntStream.range(0, scenario.active()).mapToObj(_ -> (AbstractHistogram) Durations.newHistogram()).toList();
    }

    /**
     * Lets all threads do the same, and waits until the server has it all.
     *
     * @param count for each thread
     * @return how long it took, in nanoseconds
     */
    private long run(long count, List<AbstractHistogram> histograms) throws InterruptedException {
        var begin = System.nanoTime();
        try {
            if (scenario.work() == Work.MESSAGE_CALLS && way == MessagingWay.MESSAGING_LOOP) {
                callOnTheLoop(count, histograms);
            } else {
                if (writing != null) {
                    writing.begin(count * scenario.active());
                }
                var all = new ArrayList<Future<?>>();
                for (var i = 0; i < scenario.active(); i++) {
                    var histogram = histograms.get(i);
                    all.add(senders.submit(() -> work(count, histogram)));
                }
                for (var each : all) {
                    each.get();
                }
                sent += count * scenario.active();
                if (writing != null) {
                    writing.awaitAcknowledgement();
                } else if (scenario.work() == Work.MESSAGES) {
                    peer.request(Messages.AWAIT, sent, STALL);
                }
            }
        } catch (ExecutionException e) {
            throw new ExampleFailure(Explanation.of(e.getCause()), e.getCause());
        }
        return System.nanoTime() - begin;
    }

    private void work(long count, AbstractHistogram histogram) {
        if (writing != null) {
            writing.write(count);
        } else if (scenario.work() == Work.MESSAGES) {
            for (var i = 0L; i < count; i++) {
                peer.send(messages.message, message);
            }
        } else {
            for (var i = 0L; i < count; i++) {
                var sentAt = System.nanoTime();
                peer.request(messages.call, message, STALL);
                Durations.record(histogram, System.nanoTime() - sentAt);
            }
        }
    }

    /** As many calls at a time as there would be threads; each that ends begins the next, in its callback. */
    private void callOnTheLoop(long count, List<AbstractHistogram> histograms)
            throws InterruptedException, ExecutionException {
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (var histogram : histograms) {
            var end = new CompletableFuture<Void>();
            ends.add(end);
            var caller = new ResponseHandler<byte[]>() {
                private long left = count;
                private long sentAt;

                void call() {
                    sentAt = System.nanoTime();
                    peer.requestAsync(messages.call, message, STALL, this);
                }

                @Override
                public void onResponse(byte[] response) {
                    Durations.record(histogram, System.nanoTime() - sentAt);
                    if (--left > 0) {
                        call();
                    } else {
                        end.complete(null);
                    }
                }

                @Override
                public void onFailure(MessagingException cause) {
                    end.completeExceptionally(cause);
                }
            };
            group.next().execute(caller::call);
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).get();
    }

    @Override
    public void close() {
        senders.shutdown();
        if (node != null) {
            node.close();
        } else {
            writing.close();
        }
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
