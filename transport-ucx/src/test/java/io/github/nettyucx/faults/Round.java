// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.Starvation;
import io.netty.channel.Channel;

import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** What one process has to do with the loop. */
final class Round {

    /**
     * A moment of the round.
     *
     * @param nanos        by {@link System#nanoTime}
     * @param starvedNanos for how long the loop had had no processor until then
     */
    record Moment(long nanos, long starvedNanos) {

        /** At which a time begins: what the loop lacks while the clock is read is part of it. */
        static Moment begin(Starvation loop) {
            long starved = loop.nanos();
            return new Moment(System.nanoTime(), starved);
        }

        /** At which a time ends: the same. */
        static Moment end(Starvation loop) {
            return new Moment(System.nanoTime(), loop.nanos());
        }
    }

    final KillPoint point;
    /** Whether the process connects; otherwise it listens. */
    private final boolean victimConnects;
    /** Whether the one of the two that listens accepts what comes. */
    final boolean accepting;
    final SplittableRandom random;
    private final OtherRendezvous others;
    private final Starvation loop;
    final Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    final Queue<Traffic> traffics = new ConcurrentLinkedQueue<>();
    final CountDownLatch read = new CountDownLatch(VictimMain.CONNECTIONS);
    /** The last of their ends. */
    volatile Moment ended;
    final AtomicInteger open = new AtomicInteger();

    /**
     * @param others that go on meanwhile; {@code null} where there is no rendezvous
     * @param loop   for how long the loop had no processor
     */
    Round(KillPoint point, boolean victimConnects, SplittableRandom random, OtherRendezvous others, Starvation loop) {
        this.point = point;
        this.others = others;
        this.loop = loop;
        this.victimConnects = victimConnects;
        this.random = random;
        accepting = point != KillPoint.CONNECTING || random.nextBoolean();
    }

    void add(Channel channel) {
        Traffic traffic = new Traffic(point.survivor, random.split(), read::countDown, () -> { });
        channel.pipeline().addLast(traffic);
        open.incrementAndGet();
        channels.add(channel);
        traffics.add(traffic);
        channel.closeFuture().addListener(closed -> {
            ended = Moment.end(loop);
            open.decrementAndGet();
        });
    }

    Progress progress() {
        return traffics.stream().map(Traffic::progress).reduce(Progress.NONE, Progress::plus);
    }

    /**
     * Whether the process is where it is to be killed. Asked by the loop, which does nothing else until it is dead.
     *
     * @param victim what the process says of itself
     */
    boolean isReached(Progress victim) {
        return switch (point) {
            case CONNECTING -> (isCountedByVictim() ? victim : progress()).opening() > 0;
            // It has said that the sockets are connected, and never gets further.
            case HANDSHAKE -> progress().opening() > 0;
            case CLOSING -> victim.closing() > 0;
            case IDLE -> traffics.size() == VictimMain.CONNECTIONS && traffics.stream().allMatch(Traffic::hasRead);
            case EAGER -> isOnItsWay(victim, progress()) || isOnItsWay(progress(), victim);
            case RENDEZVOUS_OF_THE_KILLED -> isUnderWay(victim, progress()) && areOthersUnderWay();
            case RENDEZVOUS_TO_THE_KILLED -> isUnderWay(progress(), victim) && areOthersUnderWay() && sharesChunk();
            case LINGERING -> traffics.stream().anyMatch(Traffic::isLingering);
        };
    }

    /**
     * Whether the process was there when it died: one that is there when the signal is sent can go on for a moment.
     * What keeps it there is this side, except where it writes and closes by itself.
     *
     * @param last what it has said of itself last
     */
    boolean isProven(Progress last) {
        return switch (point) {
            case CONNECTING -> !isCountedByVictim() || last.opening() > 0;
            case CLOSING -> last.closing() > 0;
            // Over a socket that tells nothing: the kernel goes on to deliver what it had of the process when it
            // was killed.
            case RENDEZVOUS_OF_THE_KILLED -> !Lane.current().isLink() || isUnderWay(last, progress());
            case HANDSHAKE, IDLE, EAGER, RENDEZVOUS_TO_THE_KILLED, LINGERING -> true;
        };
    }

    /** A process that does not accept knows nothing of the connections that wait. */
    private boolean isCountedByVictim() {
        return accepting || victimConnects;
    }

    private static boolean isOnItsWay(Progress from, Progress to) {
        return from.sent() > to.received();
    }

    /** Another rendezvous of this loop, which has nothing to do with the process. */
    private boolean areOthersUnderWay() {
        return others == null || others.isUnderWay();
    }

    /** Whether memory that the pool has got in one piece is used by rendezvous with both processes. */
    private boolean sharesChunk() {
        return others == null || traffics.stream().anyMatch(traffic -> traffic.chunks().shares(others.chunks()));
    }

    /** Where there is no rendezvous, the kernel has the bytes. */
    private static boolean isUnderWay(Progress from, Progress to) {
        return Lane.current().isLink() ? from.unfinished() >= Traffic.RENDEZVOUS_BYTES : isOnItsWay(from, to);
    }
}
