// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.ParentProcess;
import io.github.nettyucx.messaging.MessagingException;
import io.github.nettyucx.messaging.Node;
import io.github.nettyucx.messaging.Peer;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** One node of {@link AllToAll}: its threads send to all others in turn, and its event loop counts what comes. */
final class AllToAllNode implements AutoCloseable {
    /** Between the addresses of all nodes, in the order of their numbers. */
    static final String SEPARATOR = " ";
    private static final Duration CONNECT = Duration.ofSeconds(30);
    private static final long END_SECONDS = 5;

    private final Task task;
    private final int id;
    private final EventLoopGroup group;
    private final long[] loops;
    private final Messages messages;
    /** Written by the event loop only. */
    private final AtomicLong received = new AtomicLong();
    private final List<Thread> senders = new ArrayList<>();
    private final Node node;
    private volatile List<HostAndPort> addresses = List.of();
    private volatile boolean sending;

    AllToAllNode(Task task, int id) throws InterruptedException {
        this.task = task;
        this.id = id;
        var transport = task.setting().transport();
        group = transport.newEventLoopGroup(1);
        loops = Loops.start(group);
        messages = new Messages(task.scenario().size());
        node = Node.builder(id).transport(group, transport.socketChannel(), transport.serverSocketChannel())
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .directory(other -> addresses.get(other).resolve()).start();
        node.onMessage(messages.message, (_, _) -> received.setOpaque(received.getPlain() + 1));
        node.onRequest(Messages.AWAIT, (_, _, responder) -> responder.respond(0L));
    }

    /**
     * A process of its own, which lives until its parent ends it.
     *
     * @param args the task as JSON, and its number
     */
    public static void main(String[] args) {
        Child.run(() -> {
            var task = Json.LINE.fromJson(args[0], Task.class);
            task.setting().apply();
            task.setting().transport().ensureAvailable();
            var orders = new LinkedBlockingQueue<String>();
            ParentProcess.onceGone(() -> Runtime.getRuntime().halt(0), orders::add);
            try (var node = new AllToAllNode(task, Integer.parseInt(args[1]))) {
                System.out.println(Child.LISTENING + node.address());
                node.connect(Arrays.stream(orders.take().split(SEPARATOR)).map(HostAndPort::parse).toList());
                System.out.println(Child.READY);
                orders.take();
                node.send();
                node.warmUp();
                System.out.println(Child.READY);
                orders.take();
                System.out.println(Child.RESULT + Json.LINE.toJson(node.measure()));
                // The others are still measured.
                orders.take();
            }
        });
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) node.address());
    }

    /** Returns when all others have answered. They have to be listening. */
    void connect(List<HostAndPort> all) {
        addresses = all;
        peers().forEach(peer -> peer.request(Messages.AWAIT, 0L, CONNECT));
    }

    private List<Peer> peers() {
        return IntStream.range(0, addresses.size()).filter(other -> other != id).mapToObj(node::peer).toList();
    }

    /** Begins, and goes on until it is stopped. */
    void send() {
        sending = true;
        var peers = peers();
        var message = new byte[task.scenario().size()];
        for (var i = 0; i < task.scenario().active(); i++) {
            senders.add(Thread.ofPlatform().name("sender-" + i).start(() -> {
                try {
                    while (sending) {
                        for (var peer : peers) {
                            peer.send(messages.message, message);
                        }
                    }
                } catch (MessagingException e) {
                    if (sending) {
                        throw e;
                    }
                }
            }));
        }
    }

    /** Until the JIT compilers of this process rest and nothing gets faster, within the bounds that other works have for that. */
    void warmUp() throws InterruptedException {
        var compilers = new Compilers(ProcessHandle.current().pid());
        var nanos = (long) (task.scenario().seconds() * TimeUnit.SECONDS.toNanos(1));
        var begin = System.nanoTime();
        boolean rest;
        boolean settled;
        long spent;
        var rate = 0.0;
        do {
            var before = System.nanoTime();
            var compiled = compilers.nanos();
            var receivedBefore = received.getOpaque();
            TimeUnit.NANOSECONDS.sleep((long) (Calibration.RESTS_FOR * nanos));
            var now = System.nanoTime();
            rest = compilers.nanos() - compiled < Calibration.RESTS * (now - before);
            var rateBefore = rate;
            rate = (double) (received.getOpaque() - receivedBefore) / (now - before);
            // Compilers that get no processor rest as well.
            settled = rate < Calibration.FASTER * rateBefore;
            spent = now - begin;
        } while (spent < Calibration.COMPILED_AFTER * nanos
                || !(rest && settled) && spent < Calibration.COMPILED_BEFORE * nanos);
    }

    /** What comes in the time of a measurement. */
    Sample measure() throws InterruptedException {
        var state = ProcessState.now(loops);
        var begin = System.nanoTime();
        var before = received.getOpaque();
        TimeUnit.NANOSECONDS.sleep((long) (task.scenario().seconds() * TimeUnit.SECONDS.toNanos(1)));
        var operations = received.getOpaque() - before;
        var seconds = (System.nanoTime() - begin) / 1e9;
        var bytes = ProcessState.now(loops).loopBytes() - state.loopBytes();
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, operations / seconds, Metric.ALLOCATION,
                (double) bytes / Math.max(1, operations)));
        return new Sample(task.setting().lane().toString(), task.setting().transport().software(), operations, seconds,
                figures, null, null);
    }

    /** The others still receive, so that no thread waits for room for long. */
    void stop() throws InterruptedException {
        sending = false;
        for (var sender : senders) {
            sender.join();
        }
    }

    @Override
    public void close() {
        sending = false;
        node.close();
        group.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
