// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.OwnProcess;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.Starvation;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.handler.timeout.WriteTimeoutException;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The process at the other end is stopped (SIGSTOP), and perhaps goes on (SIGCONT). It is not taken for dead; what is
 * sent to it waits, within bounds; what has a time limit keeps it; and nobody else notices.
 */
@Tag("faults")
class StoppedProcessTest {

    private static final long DETECTION_MILLIS = 1000;
    private static final int MIB = 1024 * 1024;
    /** The default of SO_RCVBUF. */
    private static final int WINDOW = MIB;
    private static final long TOTAL = 128L * MIB;
    /** Buffers, code that is compiled meanwhile, the test's own memory; a sender without bounds would add 128 MiB. */
    private static final long RESIDENT_TOLERANCE = 48L * MIB;
    private static final int ROUNDS = Faults.times(2, 8);
    private static final long STOP_MILLIS = Faults.times(1000, 4000);
    /** UCX looks after silent peers every 20 s. */
    private static final long LONG_STOP_SECONDS = 65;

    private static final long TIMEOUT_MILLIS = 700;
    /** Beyond a time limit, of what the machine does not explain. */
    private static final long LATE_MILLIS = 1000;
    /**
     * Of a close: the kernel may give a stopped peer's a few bytes more after a socket's close has begun, and a peer that has
     * taken something has that time again.
     */
    private static final int PERIODS = 2;

    /** Not in every build: the stalls that the sender's own traffic causes come near the bound now and then. */
    @OnEachLane(timeoutSeconds = 900)
    void whatIsSentToAStoppedPeerWaitsWithinBoundsAndArrives() throws Exception {
        long seed = Faults.newSeed();
        SplittableRandom random = new SplittableRandom(seed);
        EventLoopGroup group = TestLoops.newGroup(1);
        long bound = mostCompleted();
        long mostCompleted = 0;
        long mostResident = 0;
        try (Pulse pulse = new Pulse(group)) {
            for (int round = 0; round < ROUNDS; round++) {
                boolean fromTheStart = round % 2 == 0;
                StreamSender sender = new StreamSender(TOTAL, 1 << random.nextInt(8, 20), random.split());
                try (Child peer = Child.start(ReaderMain.class, true)) {
                    Channel channel = connect(group, Peers.loopback(peer.awaitPort()), sender);
                    if (!fromTheStart) {
                        sender.start();
                        // To be stopped at any point of the transfer.
                        Thread.sleep(random.nextInt(100));
                    }
                    peer.stop();
                    if (!fromTheStart) {
                        pulse.judge();
                    }
                    long resident = OwnProcess.resident();
                    sender.start();
                    StreamSender.awaitStandstill(List.of(sender));
                    if (fromTheStart) {
                        // Not before: the sender's own writes, all of them in one task, have held up the loop until now.
                        pulse.judge();
                        mostCompleted = Math.max(mostCompleted, sender.completed());
                        assertTrue(sender.completed() <= bound, () -> "promises of " + sender.completed()
                                + " bytes succeeded while nobody read; expected at most " + bound);
                    }
                    // How long it stays stopped.
                    Thread.sleep(round == 0 && Faults.FULL ? LONG_STOP_SECONDS * 1000 : STOP_MILLIS);
                    long growth = OwnProcess.resident() - resident;
                    mostResident = Math.max(mostResident, growth);
                    assertTrue(growth <= RESIDENT_TOLERANCE, () -> "resident memory grew by " + growth);
                    assertTrue(sender.completed() == sender.total() || !channel.isWritable(), "is writable");
                    assertAlive(channel, sender);
                    pulse.rest();
                    peer.resume();
                    awaitReceived(peer, sender);
                    Peers.await(channel.close());
                }
            }
            Faults.report("stopped: lane %s, seed %d: %d stops of %d ms%s in the middle of %d MiB, and every byte"
                            + " arrived; completed while stopped %d bytes (bound: the window, or the kernel's buffers, %d),"
                            + " growth of resident memory %d KiB (bound %d); %s", Lane.current(), seed, ROUNDS, STOP_MILLIS,
                    Faults.FULL ? " (one of " + LONG_STOP_SECONDS + " s)" : "", TOTAL / MIB, mostCompleted, bound,
                    mostResident / 1024, RESIDENT_TOLERANCE / 1024, pulse.check());
        } catch (Throwable t) {
            throw Faults.failure("stopped process", seed, t);
        } finally {
            end(group);
        }
    }

    /** What waits for the peer: in UCX within the window, and on lane socket in the kernel's buffers of both sides. */
    private static long mostCompleted() throws IOException {
        return Lane.current() == Lane.SOCKET ? largest("tcp_wmem") + largest("tcp_rmem") : WINDOW;
    }

    /** The last of three numbers, see tcp(7). Such a file can only be read at one stroke. */
    private static long largest(String setting) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(Path.of("/proc/sys/net/ipv4", setting))) {
            return Long.parseLong(reader.readLine().strip().split("\\s+")[2]);
        }
    }

    private static void assertAlive(Channel channel, StreamSender sender) {
        assertNull(sender.exception(), "the stopped peer was taken for dead");
        assertNull(sender.failedWrite(), "the stopped peer was taken for dead");
        assertTrue(channel.isActive(), "the stopped peer was taken for dead");
    }

    private static void awaitReceived(Child peer, StreamSender sender) throws Exception {
        Eventually.await(60_000, () -> "after SIGCONT not everything arrives", () -> {
            peer.tell("received");
            assertNull(sender.exception());
            return Long.parseLong(peer.await("received")) >= sender.total();
        });
        // The peer has the last bytes of a rendezvous before this side's loop hears of it.
        Eventually.await(15_000, () -> "promises of no more than " + sender.completed() + " bytes have succeeded",
                () -> sender.completed() == sender.total());
    }

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 120)
    void timeLimitsAreKeptWhileThePeerIsStopped() throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        EventLoopGroup another = TestLoops.newGroup(1);
        long worst = 0;
        try (Pulse pulse = new Pulse(group); Starvation starvation = new Starvation(); Starvation others = new Starvation();
             Child peer = Child.start(EchoMain.class)) {
            SocketAddress address = Peers.loopback(peer.awaitPort());
            Heartbeat stopped = new Heartbeat("to the stopped process", 100_000);
            connect(group, address, stopped);
            Told readTimeout = new Told(starvation);
            Told writeTimeout = new Told(starvation);
            Channel reading = connect(group, address, new ChannelInboundHandlerAdapter());
            Channel writing = connect(group, address, new ChannelInboundHandlerAdapter());
            Channel closing = connect(group, address, new ChannelInboundHandlerAdapter());
            Channel idle = connect(group, address, new ChannelInboundHandlerAdapter());
            Channel ending = connect(another, address, new ChannelInboundHandlerAdapter());
            starvation.add(group);
            others.add(another);
            // So that the peer is stopped with its loop asleep, behind the handshakes.
            Thread.sleep(100);
            peer.stop();
            pulse.judge();

            ChannelFuture connect = bootstrap(group, new ChannelInboundHandlerAdapter())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) TIMEOUT_MILLIS).connect(address);
            CompletableFuture<Round.Moment> connectEnd = endOf(connect, starvation);
            Round.Moment connectBegun = begun(group, starvation);
            reading.pipeline().addLast(new ReadTimeoutHandler(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS), readTimeout);
            Round.Moment readBegun = begun(group, starvation);
            writing.pipeline().addLast(new WriteTimeoutHandler(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS), writeTimeout);
            writing.writeAndFlush(Unpooled.directBuffer(8 * MIB).writeZero(8 * MIB));
            Round.Moment writeBegun = begun(group, starvation);
            ChannelFuture lost = closing.writeAndFlush(Unpooled.directBuffer(8 * MIB).writeZero(8 * MIB));
            ChannelFuture close = closing.close();
            ChannelFuture idleClose = idle.close();
            List<CompletableFuture<Round.Moment>> closeEnds = List.of(
                    endOf(close, starvation), endOf(idleClose, starvation), endOf(lost, starvation));
            Round.Moment closeBegun = begun(group, starvation);
            ending.writeAndFlush(Unpooled.directBuffer(8 * MIB).writeZero(8 * MIB));
            CompletableFuture<Round.Moment> endingEnd = endOf(ending.closeFuture(), others);
            Future<?> end = another.shutdownGracefully(0, 10, TimeUnit.SECONDS);
            CompletableFuture<Round.Moment> loopEnd = endOf(end, others);
            Round.Moment endBegun = Round.Moment.begin(others);

            assertInstanceOf(ConnectTimeoutException.class, Peers.awaitFailure(connect));
            worst = Math.max(worst, lateness(pulse, connectBegun, get(connectEnd), 1, "the connect"));
            assertInstanceOf(ReadTimeoutException.class, get(readTimeout.cause));
            worst = Math.max(worst, lateness(pulse, readBegun, readTimeout.moment, 1, "the read timeout"));
            assertInstanceOf(WriteTimeoutException.class, get(writeTimeout.cause));
            worst = Math.max(worst, lateness(pulse, writeBegun, writeTimeout.moment, 1, "the write timeout"));
            Peers.await(close);
            Peers.await(idleClose);
            Peers.awaitFailure(lost);
            for (CompletableFuture<Round.Moment> closeEnd : closeEnds) {
                worst = Math.max(worst, lateness(pulse, closeBegun, get(closeEnd), PERIODS, "the close"));
            }
            Peers.await(end);
            // Of a thread that has ended the kernel tells nothing any more.
            Round.Moment ended = new Round.Moment(get(loopEnd).nanos(),
                    Math.max(get(loopEnd).starvedNanos(), get(endingEnd).starvedNanos()));
            worst = Math.max(worst, lateness(pulse, endBegun, ended, PERIODS, "the loop's end"));

            long beats = stopped.beats();
            peer.resume();
            Eventually.await(10_000, () -> "after SIGCONT nothing comes", () -> {
                stopped.check();
                return stopped.beats() >= beats + 3;
            });
            stopped.check();

            peer.stop();
            // It is to be killed after it has been stopped for a while.
            Thread.sleep(200);
            stopped.end();
            Channel channel = stopped.channel();
            CompletableFuture<Round.Moment> channelEnd = endOf(channel.closeFuture(), starvation);
            CompletableFuture<Round.Moment> peerEnd = peer.gone(() -> Round.Moment.begin(starvation));
            peer.kill();
            Round.Moment gone = get(peerEnd);
            assertTrue(channel.closeFuture().await(15, TimeUnit.SECONDS), "the death is not noticed");
            long detection = pulse.unexplained(gone, gone.nanos(), get(channelEnd));
            assertTrue(detection < TimeUnit.MILLISECONDS.toNanos(DETECTION_MILLIS),
                    () -> "the death was noticed after ms: " + Faults.millis(detection));
            Faults.report("time limits: lane %s: connect, read, write, close and end of the loop kept their %d ms with"
                            + " a stopped peer, %d ms late at most; its death while stopped was noticed within"
                            + " %.1f ms; %s", Lane.current(), TIMEOUT_MILLIS, worst, Faults.millis(detection),
                    pulse.check());
        } finally {
            end(group);
        }
    }

    /** When the loop has begun what it was told to until now. */
    private static Round.Moment begun(EventLoopGroup group, Starvation loop) throws Exception {
        return TestLoops.first(group).submit(() -> Round.Moment.begin(loop)).get();
    }

    private static CompletableFuture<Round.Moment> endOf(Future<?> future, Starvation loop) {
        CompletableFuture<Round.Moment> end = new CompletableFuture<>();
        future.addListener(done -> end.complete(Round.Moment.end(loop)));
        return end;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(15, TimeUnit.SECONDS);
    }

    /**
     * @param most how often the time may pass
     * @return in milliseconds, beyond the time limit, of what the machine does not explain
     */
    private static long lateness(Pulse pulse, Round.Moment begun, Round.Moment ended, int most, String what) {
        long due = begun.nanos()
                + TimeUnit.MILLISECONDS.toNanos((Lane.current() == Lane.SOCKET ? most : 1) * TIMEOUT_MILLIS);
        long late = TimeUnit.NANOSECONDS.toMillis(pulse.unexplained(begun, due, ended));
        assertTrue(late < LATE_MILLIS, () -> what + " came late by ms: " + late);
        return late;
    }

    private static Bootstrap bootstrap(EventLoopGroup group, ChannelHandler handler) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, (int) TIMEOUT_MILLIS)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handler);
                    }
                });
    }

    private static Channel connect(EventLoopGroup group, SocketAddress address, ChannelHandler handler)
            throws InterruptedException {
        return Peers.await(bootstrap(group, handler).connect(address)).channel();
    }

    private static void end(EventLoopGroup group) throws InterruptedException {
        assertFalse(Peers.await(group.shutdownGracefully(0, 10, TimeUnit.SECONDS)).isCancelled());
    }

    private static final class Told extends ChannelInboundHandlerAdapter {

        final CompletableFuture<Throwable> cause = new CompletableFuture<>();
        private final Starvation loop;
        /** Of the first. */
        volatile Round.Moment moment;

        Told(Starvation loop) {
            this.loop = loop;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable caught) {
            if (moment == null) {
                moment = Round.Moment.end(loop);
                cause.complete(caught);
            }
        }
    }
}
