// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.OwnProcess;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Tag;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process with 64 connections that reads none of them, while each of its peers has a gigabyte to send. What it takes
 * in is bounded by the windows.
 */
@Tag("faults")
@Tag("in-every-build")
class PausedReadersTest {

    private static final int CONNECTIONS = 64;
    private static final int MIB = 1024 * 1024;
    private static final long EACH = 1024L * MIB;
    /** The default of SO_RCVBUF. */
    private static final long WINDOW = MIB;
    /**
     * What all connections together may take beside their windows: UCX's receive segments and descriptors, the pool's
     * unused parts, and what the JVM itself needs to run all this for the first time.
     */
    private static final long CONSTANT = 64L * MIB;

    /** How much a kernel's socket takes is the kernel's matter. */
    @OnEachLane(timeoutSeconds = 600, linksOnly = true)
    void aReceiversMemoryIsBoundedByItsWindows() throws Exception {
        long seed = Faults.newSeed();
        SplittableRandom random = new SplittableRandom(seed);
        try {
            // Of all sizes at once; in full also of each size alone.
            run("mixed", 0, random.split(), seed);
            if (Faults.FULL) {
                for (int size : new int[] {64, 1024, 8 * 1024, 64 * 1024, MIB}) {
                    run(size + " B", size, random.split(), seed);
                }
            }
        } catch (Throwable t) {
            throw Faults.failure("paused readers", seed, t);
        }
    }

    private static void run(String sizes, int size, SplittableRandom random, long seed) throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        List<StreamSender> senders = new ArrayList<>();
        List<Channel> channels = new ArrayList<>();
        try (Child peer = Child.start(List.of(), List.of("-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch"),
                ReaderMain.class, false)) {
            SocketAddress address = Peers.loopback(peer.awaitPort());
            for (int i = 0; i < CONNECTIONS; i++) {
                int piece = size != 0 ? size : 64 << random.nextInt(15);
                StreamSender sender = new StreamSender(EACH, piece, random.split());
                senders.add(sender);
                channels.add(Peers.await(new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(sender)
                        .connect(address)).channel());
            }
            long[] before = memory(peer);
            long residentBefore = OwnProcess.resident();
            senders.forEach(StreamSender::start);
            Eventually.await(60_000, () -> "a sender is writable", () -> channels.stream().noneMatch(Channel::isWritable));
            long[] after;
            long stood;
            do {
                stood = StreamSender.awaitStandstill(senders);
                // The time is what is looked at: nothing may trickle in it.
                Thread.sleep(1000);
                after = memory(peer);
                // It may have stood still because the receiver had no processor.
            } while (StreamSender.awaitStandstill(senders) != stood);
            long completed = StreamSender.sum(senders);
            long resident = after[0] - before[0];
            long direct = after[1] - before[1];
            long bound = CONNECTIONS * WINDOW + CONSTANT;
            Faults.report("paused readers: lane %s, seed %d: %d connections, writes of %s: receiver's resident memory"
                            + " grew by %.1f MiB, its direct memory by %.1f MiB (bound %d MiB = %d windows of %d MiB +"
                            + " %d MiB); senders completed %.1f MiB; their process grew by %.1f MiB",
                    Lane.current(), seed, CONNECTIONS, sizes, mib(resident), mib(direct), bound / MIB, CONNECTIONS,
                    WINDOW / MIB, CONSTANT / MIB, mib(completed), mib(OwnProcess.resident() - residentBefore));
            // Not completed: of a rendezvous nothing is done before the reader reads.
            long written = senders.stream().mapToLong(StreamSender::written).sum();
            assertTrue(written > CONNECTIONS * WINDOW / 64, () -> "no more than " + written + " bytes were written");
            assertTrue(completed <= CONNECTIONS * WINDOW, "more was completed than the windows hold");
            assertTrue(resident <= bound, () -> "the receiver grew by bytes: " + resident);
            assertTrue(direct <= bound, () -> "the receiver's direct memory grew by bytes: " + direct);
            for (Channel channel : channels) {
                assertTrue(!channel.isWritable(), "a sender is writable");
            }
            peer.tell("read");
            awaitReceived(peer, 3 * CONNECTIONS * WINDOW);
            for (StreamSender sender : senders) {
                assertNull(sender.exception());
                assertNull(sender.failedWrite());
            }
        } finally {
            Peers.await(group.shutdownGracefully(0, 10, TimeUnit.SECONDS));
        }
    }

    private static void awaitReceived(Child peer, long bytes) throws Exception {
        Eventually.await(60_000, () -> "the readers that go on do not receive what was held back", () -> {
            peer.tell("received");
            return Long.parseLong(peer.await("received")) >= bytes;
        });
    }

    private static long[] memory(Child peer) throws Exception {
        peer.tell("memory");
        String[] words = peer.await("memory").split(" ");
        return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1])};
    }

    private static double mib(long bytes) {
        return (double) bytes / MIB;
    }
}
