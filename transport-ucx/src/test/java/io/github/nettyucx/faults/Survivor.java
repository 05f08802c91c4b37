// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.LeakWatch;
import io.github.nettyucx.channel.LoopState;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.Starvation;
import io.github.nettyucx.channel.TcpTable;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One loop that has to do with processes that are killed, and with others. */
final class Survivor implements AutoCloseable {

    /**
     * From when the kernel has closed the process's descriptors, beside what the controls waited at the same time, or the loop
     * had no processor.
     */
    static final long DETECTION_MILLIS = 100;

    private static final long SECONDS = 20;
    /** How long the other channels are watched at least after a kill. */
    private static final long WATCHED_MILLIS = 300;

    /** How long a process may take to come to its kill point again, once it is under way. */
    private static final long REACHED_SECONDS = 20;
    private static final int ATTEMPTS = 10;

    /** Chunks of 64 MiB: one has places for every rendezvous that can be under way at a time. */
    private final LeakWatch leaks = new LeakWatch(13);
    private final EventLoopGroup group = TestLoops.newGroup(1);
    private final Starvation starvation = new Starvation();
    private final UcxServerSocketChannel server;
    private final Pulse pulse;
    /** {@code null} where there is no rendezvous. */
    private final OtherRendezvous others;
    private final int channelsBefore;
    private final Map<KillPoint, Long> worstDetection = new EnumMap<>(KillPoint.class);
    /** Of processes that died where they should. */
    private final Map<KillPoint, Integer> proven = new EnumMap<>(KillPoint.class);
    private int kills;

    /** Of the present round. */
    private volatile Round round;

    Survivor() throws Exception {
        ChannelHandler child = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                round.add(channel);
            }
        };
        server = (UcxServerSocketChannel) Peers.await(new ServerBootstrap().group(group)
                .channel(UcxServerSocketChannel.class).childHandler(child)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(ChannelOption.SO_RCVBUF, Traffic.WINDOW).bind(Peers.loopback(0))).channel();
        starvation.add(group);
        pulse = new Pulse(group);
        others = Lane.current().isLink() ? new OtherRendezvous(group, leaks.allocator, pulse.rendezvousEcho()) : null;
        if (others != null) {
            others.warm();
        }
        channelsBefore = LoopState.of(group, 0).channels();
    }

    /**
     * Kills until a process has died at the kill point: one that is there when the signal is sent can be elsewhere when it
     * dies.
     *
     * @param victimConnects otherwise it listens
     */
    void kill(KillPoint point, boolean victimConnects, SplittableRandom random) throws Exception {
        int attempts = 0;
        while (!killOnce(point, victimConnects, random)) {
            if (++attempts == ATTEMPTS) {
                throw new AssertionError(point + ": none of " + ATTEMPTS + " processes died where it should");
            }
        }
        proven.merge(point, 1, Integer::sum);
    }

    /** Kills where the process died where it should. */
    Map<KillPoint, Integer> proven() {
        return proven;
    }

    /** @return whether the process was at the kill point when it died, as far as it has told */
    private boolean killOnce(KillPoint point, boolean victimConnects, SplittableRandom random) throws Exception {
        boolean amongOthers = others != null && point.isRendezvous();
        Round now = new Round(point, victimConnects, random, others, starvation);
        round = now;
        if (amongOthers) {
            others.begin();
        }
        Churn churn = null;
        long killed;
        Round.Moment gone;
        Path file = Files.createTempFile("netty-ucx-progress", null);
        Progress.Record record = new Progress.Record(file);
        try (Child victim = Child.start(VictimMain.class, point, random.nextInt(1 << 20),
                victimConnects ? server.localAddress().getPort() : 0, file, victimConnects || now.accepting)) {
            if (!victimConnects) {
                int port = victim.awaitPort();
                pulse.rest();
                churn = connectTo(port, now);
            } else {
                victim.await("connects");
                pulse.rest();
                victim.tell("connect");
            }
            victim.await("ready");
            awaitKillPoint(now);
            if (victimConnects && !now.accepting) {
                // Its requests wait, and are accepted when nobody is there any more.
                server.config().setAutoRead(false);
            }
            // To be killed at any point of what it does.
            Thread.sleep(random.nextInt(20));
            CompletableFuture<Round.Moment> end = victim.gone(() -> Round.Moment.begin(starvation));
            killed = killAt(now, record, victim, churn);
            gone = end.get(SECONDS, TimeUnit.SECONDS);
        } finally {
            Files.delete(file);
        }
        // It is dead: what its file says is its last.
        boolean there = now.isProven(record.read());
        kills++;
        if (victimConnects && !now.accepting) {
            // Before that there is nothing that could notice.
            gone = Round.Moment.begin(starvation);
            server.config().setAutoRead(true);
            // Until then there may be no channel whose end could be waited for.
            int port = server.localAddress().getPort();
            Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> TcpTable.backlog(port) + " connections are not accepted",
                    () -> TcpTable.backlog(port) == 0);
        }
        String scenario = point + (victimConnects ? ", connected by" : ", connected to") + " the killed process";
        try {
            long detection = awaitEnd(now, killed, gone);
            worstDetection.merge(point, detection, Math::max);
            checkConnects(now, churn);
            checkWrites(now);
            pulse.awaitBeats();
            if (amongOthers) {
                others.awaitBeats();
                others.rest();
            }
            // Whatever the death has left behind shows in the other connections.
            Thread.sleep(WATCHED_MILLIS);
        } catch (Throwable t) {
            throw new AssertionError("kill " + kills + " (" + scenario + "): " + t.getMessage(), t);
        }
        return there;
    }

    /**
     * @param churn that is stopped then, or {@code null}
     * @return when it was killed
     */
    private long killAt(Round now, Progress.Record record, Child victim, Churn churn) throws Exception {
        EventLoop loop = TestLoops.first(group);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(REACHED_SECONDS);
        for (;;) {
            long killed = loop.submit(() -> {
                if (!now.isReached(record.read())) {
                    return 0L;
                }
                pulse.judge();
                long before = System.nanoTime();
                victim.kill();
                if (churn != null) {
                    churn.stop();
                }
                return before;
            }).get();
            if (killed != 0) {
                return killed;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(now.point + " is not reached: it has " + record.read() + ", this side "
                        + loop.submit(now::progress).get());
            }
        }
    }

    private Churn connectTo(int port, Round now) {
        Churn churn = new Churn(new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(ChannelOption.ALLOCATOR, leaks.allocator)
                .option(ChannelOption.SO_RCVBUF, Traffic.WINDOW)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        now.add(channel);
                    }
                }), Peers.loopback(port), now.point.isChurning());
        churn.start(VictimMain.CONNECTIONS);
        return churn;
    }

    private static void awaitKillPoint(Round now) throws InterruptedException {
        if (now.point == KillPoint.IDLE || now.point == KillPoint.LINGERING) {
            if (!now.read.await(SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the process does not greet");
            }
            // Nothing is on its way any more, and the loop sleeps.
            Thread.sleep(300);
        }
    }

    /**
     * @param gone when the kernel had closed what the process had open
     * @return how long it took from then on, in nanoseconds
     */
    private long awaitEnd(Round now, long killed, Round.Moment gone) throws Exception {
        // Channels of requests that had come before the kill are still made.
        long deadline = killed + TimeUnit.SECONDS.toNanos(SECONDS);
        while (LoopState.of(group, 1).channels() > channelsBefore || now.open.get() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not noticed within " + SECONDS + " s: " + now.channels.stream()
                        .filter(Channel::isOpen).toList());
            }
        }
        Round.Moment ended = now.ended;
        if (ended == null || ended.nanos() - gone.nanos() <= 0) {
            return 0;
        }
        Heartbeat.Gap detection = new Heartbeat.Gap(gone.nanos(), ended.nanos(),
                ended.starvedNanos() - gone.starvedNanos());
        long own = pulse.unexplained(detection);
        if (own > TimeUnit.MILLISECONDS.toNanos(DETECTION_MILLIS)) {
            throw new AssertionError(String.format("noticed %.1f ms after the kill. The kernel took %.1f ms until it had"
                    + " closed the process's descriptors. Of the %.1f ms since, the loop had no processor for %.1f ms, and"
                    + " %.1f ms are neither that nor what the controls waited at the same time; expected %d at most",
                    Faults.millis(ended.nanos() - killed), Faults.millis(gone.nanos() - killed),
                    Faults.millis(detection.nanos()), Faults.millis(detection.starvedNanos()), Faults.millis(own),
                    DETECTION_MILLIS));
        }
        return own;
    }

    private static void checkConnects(Round now, Churn churn) {
        if (churn == null) {
            return;
        }
        for (ChannelFuture connect : churn.connects()) {
            if (!connect.isDone()) {
                throw new AssertionError("a connect is left pending: " + connect);
            }
            if (!connect.isSuccess()) {
                checkCause("a connect", connect.cause());
            } else if (now.point == KillPoint.HANDSHAKE) {
                throw new AssertionError("connected to a process that does not speak the protocol");
            }
        }
    }

    private static void checkWrites(Round now) {
        for (Traffic traffic : now.traffics) {
            if (traffic.pendingWrites() != 0) {
                throw new AssertionError(traffic.pendingWrites() + " writes are left pending");
            }
            traffic.failedWrites().forEach(cause -> checkCause("a write", cause));
            traffic.exceptions().forEach(cause -> checkCause("a channel", cause));
            if (now.point.isReset(Lane.current())) {
                checkReset(traffic);
            }
        }
    }

    /**
     * What says that the peer is gone, and not only that the channel has been closed: the exception that the channel
     * is told, or that of a write if this comes first, as with every transport.
     */
    private static void checkReset(Traffic traffic) {
        if (traffic.wasActive() && traffic.exceptions().isEmpty() && traffic.failedWrites().isEmpty()) {
            throw new AssertionError("a channel was not told why it became inactive");
        }
        Throwable first = traffic.failedWrites().peek();
        if (first != null && !saysLost(first)) {
            throw new AssertionError("the first write that failed does not say why", first);
        }
        traffic.exceptions().forEach(cause -> {
            if (!saysLost(cause)) {
                throw new AssertionError("the channel was not told that the connection was reset", cause);
            }
        });
    }

    private static boolean saysLost(Throwable cause) {
        return cause.getMessage() != null && (cause.getMessage().startsWith("Connection reset by peer")
                || cause.getMessage().startsWith("Connection lost") || cause.getMessage().startsWith("Broken pipe"));
    }

    private static void checkCause(String what, Throwable cause) {
        if (!(cause instanceof IOException)) {
            throw new AssertionError(what + " failed with what is no IOException", cause);
        }
    }

    /** Tells what was measured, and waits until nothing is left of all that. */
    void finish(String what, long seed) throws Exception {
        Pulse.Verdict verdict = pulse.check();
        String meanwhile = others == null ? "" : "; " + others.end() + " rendezvous with another process meanwhile";
        pulse.close();
        awaitNothingLeft();
        StringBuilder detections = new StringBuilder();
        worstDetection.forEach((point, nanos) -> detections.append(detections.isEmpty() ? "" : ", ")
                .append(point.toString().toLowerCase().replace('_', ' ')).append(' ')
                .append(String.format("%.1f", Faults.millis(nanos))));
        long worst = worstDetection.values().stream().mapToLong(Long::longValue).max().orElse(0);
        Faults.report("%s: lane %s, seed %d: %d kills, %s%s; worst detection %.1f ms (bound %d ms), by kill point in"
                        + " ms: %s; %s", what, Lane.current(), seed, kills, provenText(), meanwhile,
                Faults.millis(worst), DETECTION_MILLIS, detections, verdict);
    }

    private String provenText() {
        int rendezvous = proven.entrySet().stream().filter(entry -> entry.getKey().isRendezvous())
                .mapToInt(Map.Entry::getValue).sum();
        return proven.values().stream().mapToInt(Integer::intValue).sum() + " of them where they should be"
                + (others == null ? "" : ", " + rendezvous + " in the middle of a rendezvous");
    }

    /**
     * Workers are given back, and everything that was in flight. Messages that have come in part keep a worker from being
     * given back as long as others use it: the heartbeats have ended before.
     */
    private void awaitNothingLeft() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (LoopState state = LoopState.of(group, 20);
                state.workers() > 0 || state.orphans() > 0 || state.channels() > 1; state = LoopState.of(group, 20)) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("dead peers have left something behind: " + state);
            }
        }
    }

    @Override
    public void close() throws Exception {
        pulse.close();
        starvation.close();
        Peers.await(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        leaks.assertNothingLeft();
    }
}
