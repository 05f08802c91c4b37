// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * How much a stranger gives a server's loop to do, by the processor's time of its thread: that tells as well on a busy
 * machine. The loop parks, so that all of it is work. What is compared has been measured in the same round; of some
 * rounds the median counts.
 */
@OwnJvm
class StrangerCostTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    /** At most as many times what an ordinary client takes at Netty's server; up to 5 times has been seen. */
    private static final int TIMES_AS_MUCH = 10;
    /** Each of its bytes is an event, and how many come before its time is over the machine decides. */
    private static final Stranger.Kind NOT_COMPARED = Stranger.Kind.SLOW;
    /** Whom the server hears, and then closes. */
    private static final Stranger.Kind ORDINARY = Stranger.Kind.HTTP;
    private static final int ROUNDS = 3;
    private static final int WARM_UP = 400;
    private static final int COUNT = 400;
    private static final int WAVE = 50;
    private static final int STAYING_WAVE = 200;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;
    private Peers peers;
    private EventLoopGroup kernelServers;

    @BeforeEach
    void startLoops() {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
        // To look for leaks takes longer than all the rest. PortAttackTest does.
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        peers = new Peers(1, 1, UcxWaitStrategy.PARK);
        kernelServers = AttackedPorts.newKernelLoop();
    }

    @AfterEach
    void end() throws InterruptedException {
        peers.close();
        Peers.await(kernelServers.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        leaks.assertNothingLeft();
    }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240, lanes = Lane.SHM)
    void whoIsTurnedAwayAtOnceCostsLittle() throws Exception {
        compare(false);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 240, lanes = Lane.SHM)
    void soDoesWhoStays() throws Exception {
        compare(true);
    }

    /** @param staying those who stay until the server's time for them is over, which takes a second for each round */
    private void compare(boolean staying) throws Exception {
        List<Stranger.Kind> kinds = Stranger.Kind.chosen().stream()
                .filter(kind -> kind != NOT_COMPARED && kind.stays() == staying).toList();
        AttackedPorts ports = AttackedPorts.listen(peers, leaks);
        Channel server = AttackedPorts.listenAtKernel(kernelServers, Dismissal::new);
        AttackedPorts kernel = new AttackedPorts(server, server);
        cost(kernel, ORDINARY, WARM_UP, WAVE);
        for (Stranger.Kind kind : kinds) {
            if (!kind.stays()) {
                cost(ports, kind, WARM_UP, WAVE);
            }
        }
        List<String> told = new ArrayList<>();
        Map<Stranger.Kind, double[]> rounds = new EnumMap<>(Stranger.Kind.class);
        for (int round = 0; round < ROUNDS; round++) {
            double ordinary = cost(kernel, ORDINARY, COUNT, WAVE);
            told.add(String.format("%.1f", ordinary));
            for (Stranger.Kind kind : kinds) {
                double cost = kind.stays() ? cost(ports, kind, STAYING_WAVE, STAYING_WAVE)
                        : cost(ports, kind, COUNT, WAVE);
                // To get what he says, that one comes twice.
                rounds.computeIfAbsent(kind, any -> new double[ROUNDS])[round]
                        = (kind == Stranger.Kind.REFLECTED ? cost / 2 : cost) / ordinary;
            }
        }
        Peers.await(server.close());
        Map<Stranger.Kind, Double> costs = new EnumMap<>(Stranger.Kind.class);
        rounds.forEach((kind, times) -> costs.put(kind, Arrays.stream(times).sorted().toArray()[ROUNDS / 2]));
        System.out.printf("seed %d, processor's time in µs for an ordinary client at Netty's server: %s; times as much for a"
                + " stranger: %s%n", SEED, told, costs);
        costs.values().removeIf(times -> times <= TIMES_AS_MUCH);
        assertEquals(Map.of(), costs, "times as much as for an ordinary client");
    }

    /** Hears a client, and ends. */
    private static final class Dismissal extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
            context.close();
        }
    }

    /** @return of the server's loop, in microseconds for each stranger */
    private double cost(AttackedPorts ports, Stranger.Kind kind, int count, int wave) throws Exception {
        EventLoop loop = ports.open().eventLoop();
        long thread = loop.submit(() -> Thread.currentThread().threadId()).get();
        long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
        for (int done = 0; done < count; done += wave) {
            ports.wave(kind, wave, random);
        }
        if (kind.leaves()) {
            // Nobody waits for the server to see that. It has when it has dealt with somebody who has come later.
            ports.wave(ORDINARY, 1, random);
        }
        return (ManagementFactory.getThreadMXBean().getThreadCpuTime(thread) - before) / 1e3 / count;
    }
}
