// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
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

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Watches whether a loop goes on serving its other channels: heartbeats on the loop to another process, of small and
 * of large messages, and to another loop of this process.
 * <p>
 * The machine may stall everybody. So there are controls that share nothing with the loop but the process and the
 * machine: heartbeats on another UCX loop to the same process, and one over the kernel's TCP. The loop may be worse than
 * they are by a bound. Gaps before the fault, when the scenario's traffic keeps the loop busy, are told apart.
 */
final class Pulse implements AutoCloseable {

    /** How long the loop may keep its other channels waiting, beyond what the controls wait. */
    static final long STALL_MILLIS = 100;

    private static final int LARGE = 96 * 1024;

    private final EventLoopGroup controlGroup = TestLoops.newGroup(1);
    private final EventLoopGroup echoGroup = TestLoops.newGroup(1);
    private final EventLoopGroup nioGroup = new NioEventLoopGroup(2);
    private final Child living;
    private final List<Heartbeat> tested = new ArrayList<>();
    private final List<Heartbeat> controls = new ArrayList<>();
    /** When the loop is judged; in between it may have its hands full with what the scenario sends. */
    private final List<Heartbeat.Gap> judged = new ArrayList<>();
    private long judgedFrom;

    /**
     * The worst gap while the loop is judged, the worst of the controls in that time, and the worst of all heartbeats
     * while it is not judged.
     */
    record Verdict(long stallNanos, String stalls, long controlNanos, long trafficNanos) {

        long excessNanos() {
            return stallNanos - controlNanos;
        }

        @Override
        public String toString() {
            return String.format("worst stall of another channel %.1f ms (%s), of the controls meanwhile %.1f ms"
                            + " (bound: %d ms more than these); before the fault, under its traffic alone, %.1f ms",
                    Faults.millis(stallNanos), stalls, Faults.millis(controlNanos), STALL_MILLIS,
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
        controls.add(connect(controlGroup, UcxSocketChannel.class, other, "control, other loop", 16));
        controls.add(connect(controlGroup, UcxSocketChannel.class, other, "control, other loop, large", LARGE));
        controls.add(connect(nioGroup, NioSocketChannel.class, nio.localAddress(), "control, NIO", 16));
        awaitWarm();
    }

    private static Heartbeat connect(EventLoopGroup group, Class<? extends Channel> type, SocketAddress address,
                                     String name, int size) throws InterruptedException {
        Heartbeat heartbeat = new Heartbeat(name, size);
        Peers.await(new Bootstrap().group(group).channel(type).handler(heartbeat).connect(address));
        return heartbeat;
    }

    /** Classes are loaded and methods compiled before anything is measured. */
    private void awaitWarm() throws InterruptedException {
        for (Heartbeat heartbeat : all()) {
            while (heartbeat.beats() < 200) {
                heartbeat.check();
                Thread.sleep(10);
            }
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

    int channelsOfLoop() {
        return tested.size();
    }

    Verdict verdict() {
        rest();
        long worst = 0;
        long traffic = 0;
        StringBuilder stalls = new StringBuilder();
        for (Heartbeat heartbeat : tested) {
            long stall = worstJudged(heartbeat);
            worst = Math.max(worst, stall);
            stalls.append(stalls.isEmpty() ? "" : ", ").append(heartbeat)
                    .append(String.format(" %.1f", Faults.millis(stall)));
            for (Heartbeat.Gap gap : heartbeat.gaps()) {
                if (judgedNanos(gap) == 0) {
                    traffic = Math.max(traffic, gap.nanos());
                }
            }
        }
        long control = 0;
        for (Heartbeat heartbeat : controls) {
            control = Math.max(control, worstJudged(heartbeat));
        }
        return new Verdict(worst, stalls.toString(), control, traffic);
    }

    private long worstJudged(Heartbeat heartbeat) {
        heartbeat.check();
        return heartbeat.gaps().stream().mapToLong(this::judgedNanos).max().orElse(0);
    }

    private long judgedNanos(Heartbeat.Gap gap) {
        long longest = 0;
        for (Heartbeat.Gap window : judged) {
            longest = Math.max(longest, Math.min(window.to(), gap.to()) - Math.max(window.from(), gap.from()));
        }
        return longest;
    }

    /** @return the verdict, if it is no failure */
    Verdict check() {
        Verdict verdict = verdict();
        if (verdict.excessNanos() > TimeUnit.MILLISECONDS.toNanos(STALL_MILLIS)) {
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
        for (EventLoopGroup group : List.of(controlGroup, echoGroup, nioGroup)) {
            Future<?> end = group.shutdownGracefully(0, 5, TimeUnit.SECONDS);
            end.await(10, TimeUnit.SECONDS);
        }
    }
}
