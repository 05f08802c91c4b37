// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.Starvation;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Watches whether a loop goes on serving its other channels: heartbeats on the loop to another process, of small and
 * of large messages, and to another loop of this process.
 * <p>
 * The machine may stall everybody. So there are controls that share nothing with the transport but the process and the
 * machine: heartbeats over the kernel's TCP, by NIO, to the same process and within this one. And the kernel tells for how
 * long the loops of a heartbeat had no processor ({@link Starvation}). Of a gap of the loop's counts what neither
 * explains. Gaps before the fault, when the scenario's traffic keeps the loop busy, are told apart.
 */
final class Pulse implements AutoCloseable {

    /** How long the loop may keep its other channels waiting while none of the controls waits. */
    static final long STALL_MILLIS = 100;

    private static final int LARGE = 96 * 1024;
    /** How the names of the transport's threads begin. */
    private static final String LOOPS = "ucxEventLoop";
    private static final int WARM_BEATS = 200;
    private static final long WARM_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private final EventLoopGroup echoGroup = TestLoops.newGroup(1);
    private final EventLoopGroup nioGroup = new NioEventLoopGroup(2);
    private final Child living;
    private final Starvation starvation = new Starvation();
    private final List<Heartbeat> tested = new ArrayList<>();
    private final List<Heartbeat> controls = new ArrayList<>();
    /** When the loop is judged; in between it may have its hands full with what the scenario sends. */
    private final List<Heartbeat.Gap> judged = new ArrayList<>();
    private long judgedFrom;

    /**
     * @param stallNanos   the worst that a heartbeat of the loop waited while it was judged, beside what the controls
     *                     waited or its loops were kept from a processor
     * @param gapNanos     the worst gap of a heartbeat in that time, whoever waited as well
     * @param trafficNanos the worst gap while the loop was not judged
     */
    record Verdict(long stallNanos, long gapNanos, String gaps, long trafficNanos) {

        @Override
        public String toString() {
            return String.format("worst stall of another channel %.1f ms (bound: %d ms), beside what the controls waited"
                            + " at the same time, or its loops had no processor; worst gaps with that %.1f ms (%s); before"
                            + " the fault, under its traffic alone, %.1f ms", Faults.millis(stallNanos), STALL_MILLIS, Faults.millis(gapNanos), gaps,
                    Faults.millis(trafficNanos));
        }
    }

    Pulse(EventLoopGroup loop) throws Exception {
        living = Child.start(EchoMain.class);
        SocketAddress other = Peers.loopback(living.awaitPort());
        UcxServerSocketChannel own = (UcxServerSocketChannel) Peers.await(new ServerBootstrap().group(echoGroup)
                .channel(UcxServerSocketChannel.class).childHandler(new EchoMain.Echo())
                .bind(Peers.loopback(0))).channel();
        Channel nio = Peers.await(new ServerBootstrap().group(nioGroup).channel(NioServerSocketChannel.class)
                .childHandler(new EchoMain.Echo()).bind(Peers.loopback(0))).channel();
        tested.add(connect(loop, UcxSocketChannel.class, other, "living process, small", 16));
        tested.add(connect(loop, UcxSocketChannel.class, other, "living process, large", LARGE));
        tested.add(connect(loop, UcxSocketChannel.class, own.localAddress(), "own process", 16));
        living.tell(EchoMain.BY_NIO);
        controls.add(connect(nioGroup, NioSocketChannel.class, Peers.loopback(living.awaitPort()),
                "control, living process", 16));
        controls.add(connect(nioGroup, NioSocketChannel.class, nio.localAddress(), "control, own process", 16));
        awaitWarm();
        starvation.add(loop);
        starvation.add(echoGroup);
        starvation.add(living.pid(), LOOPS);
        tested.forEach(heartbeat -> heartbeat.keptBy(starvation));
    }

    /** Of the living process; see {@link EchoMain#BY_RENDEZVOUS}. */
    SocketAddress rendezvousEcho() throws Exception {
        living.tell(EchoMain.BY_RENDEZVOUS);
        return Peers.loopback(living.awaitPort());
    }

    private static Heartbeat connect(EventLoopGroup group, Class<? extends Channel> type, SocketAddress address,
                                     String name, int size) throws InterruptedException {
        Heartbeat heartbeat = new Heartbeat(name, size);
        Peers.await(new Bootstrap().group(group).channel(type).handler(heartbeat).connect(address));
        return heartbeat;
    }

    /** Classes are loaded and methods compiled before anything is measured. */
    private void awaitWarm() throws Exception {
        for (Heartbeat heartbeat : all()) {
            Eventually.await(WARM_MILLIS, () -> heartbeat + " has not come to " + WARM_BEATS + " beats", () -> {
                heartbeat.check();
                return heartbeat.beats() >= WARM_BEATS;
            });
        }
    }

    /** From here on a stall is the fault's doing. */
    void judge() {
        judgedFrom = System.nanoTime();
    }

    /** From here on the scenario's traffic competes with the heartbeats. */
    void rest() {
        if (judgedFrom != 0) {
            judged.add(new Heartbeat.Gap(judgedFrom, System.nanoTime()));
            judgedFrom = 0;
        }
    }

    private List<Heartbeat> all() {
        List<Heartbeat> all = new ArrayList<>(tested);
        all.addAll(controls);
        return all;
    }

    /** How much of a time neither a control's waiting nor a want of processors explains: nanoseconds. */
    long unexplained(Heartbeat.Gap time) {
        return stall(time, time, excuses());
    }

    /** The same of the time from {@code due} to {@code ended}; a loop may have had no processor since {@code begun}. */
    long unexplained(Round.Moment begun, long due, Round.Moment ended) {
        return ended.nanos() - due <= 0 ? 0
                : unexplained(new Heartbeat.Gap(due, ended.nanos(), ended.starvedNanos() - begun.starvedNanos()));
    }

    private List<Heartbeat.Gap> excuses() {
        return controls.stream().flatMap(control -> control.gaps().stream())
                .sorted(Comparator.comparingLong(Heartbeat.Gap::from)).toList();
    }

    private Verdict verdict() {
        rest();
        controls.forEach(Heartbeat::check);
        List<Heartbeat.Gap> excuses = excuses();
        long worst = 0;
        long worstGap = 0;
        long traffic = 0;
        StringBuilder gaps = new StringBuilder();
        for (Heartbeat heartbeat : tested) {
            heartbeat.check();
            long longest = 0;
            for (Heartbeat.Gap gap : heartbeat.gaps()) {
                boolean any = false;
                for (Heartbeat.Gap window : judged) {
                    Heartbeat.Gap part = common(gap, window);
                    if (part.nanos() > 0) {
                        any = true;
                        longest = Math.max(longest, part.nanos());
                        worst = Math.max(worst, stall(gap, part, excuses));
                    }
                }
                if (!any) {
                    traffic = Math.max(traffic, gap.nanos());
                }
            }
            worstGap = Math.max(worstGap, longest);
            gaps.append(gaps.isEmpty() ? "" : ", ").append(heartbeat)
                    .append(String.format(" %.1f", Faults.millis(longest)));
        }
        return new Verdict(worst, worstGap, gaps.toString(), traffic);
    }

    private static Heartbeat.Gap common(Heartbeat.Gap one, Heartbeat.Gap other) {
        long from = Math.max(one.from(), other.from());
        return new Heartbeat.Gap(from, Math.max(from, Math.min(one.to(), other.to())));
    }

    /**
     * What neither the controls nor a want of processors explain. The two may be about the same time, and so only the larger
     * one counts.
     */
    static long stall(Heartbeat.Gap gap, Heartbeat.Gap part, List<Heartbeat.Gap> excuses) {
        return Math.max(0, part.nanos() - Math.max(covered(part, excuses), gap.starvedNanos()));
    }

    /** How much of a gap lies in others, which are sorted and may overlap. */
    static long covered(Heartbeat.Gap gap, List<Heartbeat.Gap> others) {
        long covered = 0;
        long end = gap.from();
        for (Heartbeat.Gap other : others) {
            Heartbeat.Gap part = common(new Heartbeat.Gap(end, Math.max(end, gap.to())), other);
            covered += part.nanos();
            end = Math.max(end, part.to());
        }
        return covered;
    }

    /** @return the verdict, if it is no failure */
    Verdict check() {
        Verdict verdict = verdict();
        if (verdict.stallNanos() > TimeUnit.MILLISECONDS.toNanos(STALL_MILLIS)) {
            throw new AssertionError(verdict.toString());
        }
        return verdict;
    }

    /** The heartbeats of the loop all beat. */
    void awaitBeats() throws InterruptedException {
        for (Heartbeat heartbeat : tested) {
            long before = heartbeat.beats();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (heartbeat.beats() < before + 3) {
                heartbeat.check();
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError("the heartbeat '" + heartbeat + "' has stopped");
                }
                Thread.sleep(1);
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        all().forEach(Heartbeat::end);
        living.close();
        try {
            starvation.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (EventLoopGroup group : List.of(echoGroup, nioGroup)) {
            Future<?> end = group.shutdownGracefully(0, 5, TimeUnit.SECONDS);
            end.await(10, TimeUnit.SECONDS);
        }
    }
}
