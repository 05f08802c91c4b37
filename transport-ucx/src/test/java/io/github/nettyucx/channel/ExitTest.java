// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a program has written, or closed, is delivered although its JVM ends right after that has succeeded. */
class ExitTest {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final long SECONDS = 30;
    /** By default it is 2 s that an exit waits for what is under way, in which a busy machine may not read 8 MiB. */
    private static final List<String> PATIENT = Stream.concat(LaneJvm.SMALL.stream(),
            Stream.of("-D" + OrderlyExit.TIMEOUT_PROPERTY + "=15000")).toList();

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane
    void anExitAfterSmallWritesLosesNothing() throws Exception {
        assertArrives(ExitMain.End.EXIT, 300 * KIB, KIB);
    }

    @OnEachLane
    void anExitAfterALargeWriteLosesNothing() throws Exception {
        assertArrives(ExitMain.End.EXIT, 8 * MIB, 8 * MIB);
    }

    @OnEachLane
    void anExitOnTheEventLoopLosesNothing() throws Exception {
        assertArrives(ExitMain.End.EXIT_ON_LOOP, 300 * KIB, KIB);
    }

    /** The write that is under way then is not gone on with where it was. */
    @OnEachLane(linksOnly = true)
    void anExitInTheMiddleOfAWriteLosesNothing() throws Exception {
        assertArrives(ExitMain.End.EXIT_AT_THE_FIRST_WRITE, 300 * KIB, KIB);
        assertArrives(ExitMain.End.EXIT_AT_THE_FIRST_WRITE, 1 * MIB, 64 * KIB);
        assertArrives(ExitMain.End.EXIT_AT_THE_FIRST_WRITE, 8 * MIB, 2 * MIB);
    }

    @OnEachLane(linksOnly = true)
    void anExitInAReadLosesNothing() throws Exception {
        assertArrives(ExitMain.End.EXIT_IN_READ, 300 * KIB, KIB);
        assertArrives(ExitMain.End.EXIT_IN_READ, 8 * MIB, 2 * MIB);
    }

    @OnEachLane
    void theReturnFromMainLosesNothing() throws Exception {
        assertArrives(ExitMain.End.RETURN, 300 * KIB, KIB);
    }

    @OnEachLane
    void anExitAfterACloseLosesNothing() throws Exception {
        assertArrives(ExitMain.End.CLOSE, 8 * MIB, 64 * KIB);
    }

    @OnEachLane(linksOnly = true)
    void anExitAfterACloseThatHadNothingLeftToSendLosesNothing() throws Exception {
        assertArrives(ExitMain.End.CLOSE_WHEN_SENT, 300 * KIB, KIB);
    }

    @OnEachLane(linksOnly = true)
    void aSignalAfterACloseLosesNothing() throws Exception {
        assertArrives(ExitMain.End.SIGNAL_AFTER_CLOSE, 300 * KIB, KIB);
    }

    @OnEachLane
    void aHookThatASignalHasStartedCanStillWrite() throws Exception {
        assertArrives(ExitMain.End.SIGNAL, 8 * MIB, 64 * KIB);
    }

    @OnEachLane
    void aSignalLosesNothingOfWhatACloseIsStillDelivering() throws Exception {
        assertArrives(ExitMain.End.SIGNAL_WHILE_CLOSING, 8 * MIB, 64 * KIB);
    }

    @OnEachLane
    void aSignalLosesNothingOfWhatACloseDeliversToWhichTheLoopHasNotCome() throws Exception {
        assertArrives(ExitMain.End.SIGNAL_BEFORE_THE_LOOP_CLOSES, 8 * MIB, 64 * KIB);
    }

    /** Nothing that a socket's channel has written is lost with the process. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aHookThatAnExitHasStartedCanStillWriteOverASocket() throws Exception {
        assertArrives(ExitMain.End.EXIT_WITH_HOOK, 8 * MIB, 64 * KIB);
    }

    @OnEachLane
    void anExitAfterACloseInInitChannelLetsTheClientBeConnectedAndSeeTheEnd() throws Exception {
        assertIsDeclined("");
    }

    @OnEachLane
    void norIsWhatHasBeenFlushedBeforeSuchACloseLost() throws Exception {
        assertIsDeclined("full");
    }

    private void assertIsDeclined(String reason) throws Exception {
        String[] arguments = reason.isEmpty() ? new String[0] : new String[] {reason};
        // The handshake takes its time on a busy machine.
        Process process = new ProcessBuilder(LaneJvm.command(Lane.current(), PATIENT, DecliningMain.class, arguments))
                .redirectErrorStream(true).start();
        try (BufferedReader output = process.inputReader()) {
            Inbox inbox = new Inbox();
            Channel client = Peers.await(peers.client(inbox).option(UcxChannelOption.LANES, Lane.current().orSocket())
                    .connect(Peers.loopback(awaitPort(output)))).channel();
            inbox.awaitActive();
            inbox.awaitInactive();
            assertEquals(List.of(), inbox.exceptions());
            assertEquals(reason, inbox.text());
            Peers.await(client.closeFuture());
            assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), "the process does not end");
            assertEquals(0, process.exitValue());
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static int awaitPort(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            System.out.println(line);
            if (line.startsWith(DecliningMain.PORT)) {
                return Integer.parseInt(line.substring(DecliningMain.PORT.length()));
            }
        }
        throw new AssertionError("the process does not listen");
    }

    /** To a side that reads 64 KiB at a time, with pauses, so that much is on its way at the end. */
    private void assertArrives(ExitMain.End end, int total, int size) throws Exception {
        StreamReader reader = new StreamReader(
                ExitMain.SEED, total, StreamReader.Demand.MANUAL, new SplittableRandom(ExitMain.SEED));
        ChannelHandler asking = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                if (end == ExitMain.End.EXIT_IN_READ) {
                    context.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
                }
                context.fireChannelActive();
            }
        };
        UcxServerSocketChannel server = peers.listen(peers.server(() -> new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel child) {
                child.pipeline().addLast(asking, reader);
            }
        })
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR,
                        new FixedRecvByteBufAllocator(64 * KIB).maxMessagesPerRead(1)));
        List<String> command = new ArrayList<>(LaneJvm.command(Lane.current(), PATIENT, ExitMain.class,
                Integer.toString(server.localAddress().getPort()), end.toString(), Integer.toString(total),
                Integer.toString(size)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT).start();
        try {
            // All bytes, in order, and then an orderly end.
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
            assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), "the process does not end");
            int sigterm = 128 + 15;
            boolean signalled = end.name().startsWith("SIGNAL");
            assertEquals(signalled ? sigterm : 0, process.exitValue());
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
