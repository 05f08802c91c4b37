// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The transport's loops are what the application expects of its own. */
@Timeout(180)
class TakenLoopsTest {

    private static String run(String netty, String... arguments) throws Exception {
        return ApplicationProcess.of(LoopApplication.class, arguments).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED").withAgent("").run();
    }

    private static void assertSays(String output, String line) {
        assertTrue(output.lines().anyMatch(line::equals), output);
    }

    /** The last group may still be in the hands of a thread. */
    @Test
    void loopsThatHaveEndedAreNotKept() throws Exception {
        String output = run("4.2", "many");
        assertTrue(output.matches("(?s)(.*\\n)?groups 30, drivers [0-3]\\n.*"), output);
    }

    @ParameterizedTest
    @CsvSource({"4.1, TakenEventLoop", "4.2, TakenIoEventLoop"})
    void whatAGroupIsGivenForItsLoopsHolds(String netty, String loop) throws Exception {
        assertSays(run(netty, "given"), "loops " + loop + ", queues 2 and 2, rejected 1");
    }

    @ParameterizedTest
    @CsvSource({"4.1, TakenEventLoop", "4.2, TakenIoEventLoop"})
    void theQueueOfTheTailIsNotTheQueueOfTasks(String netty, String loop) throws Exception {
        assertSays(run(netty, "tail"), "loops " + loop + ", in the tail 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void theEndOfAGroupMayBeAwaitedWhereThatOfAnotherIsTold(String netty) throws Exception {
        assertSays(run(netty, "await"), "awaited true");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void anEndThatIsRefusedEndsNothing(String netty) throws Exception {
        assertSays(run(netty, "refused"), "refused, listens true");
    }

    /** Whoever waits neither gives up before his time nor keeps a processor busy. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void theEndOfALoopIsThatOfTheOneBeside(String netty) throws Exception {
        String output = run(netty, "later");
        assertSays(output, "loop ended true, idle true");
        assertSays(output, "group ended true, idle true");
    }

    /** Of an executor of the application's own. */
    @ParameterizedTest
    @CsvSource({"4.1, true", "4.1, false", "4.2, true", "4.2, false"})
    void aLoopBesideHasAThreadLikeTheApplications(String netty, boolean daemon) throws Exception {
        assertSays(run(netty, "threads", Boolean.toString(daemon)), "beside " + (daemon ? "a daemon" : "no daemon"));
    }

    /** It would have none for ever. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aLoopBesideGetsItsThreadThoughTheQueueOfTheOtherOneIsFull(String netty) throws Exception {
        assertSays(run(netty, "full"), "queues 2, bound true, ended true");
    }

    /** As Netty's own loops of NIO and of epoll do. */
    @ParameterizedTest
    @CsvSource({"4.1, TakenEventLoop", "4.2, TakenIoEventLoop"})
    void aLoopCountsAndListsItsChannels(String netty, String loop) throws Exception {
        String output = run(netty, "listed");
        assertSays(output, loop + ", channels 1, listed true");
        assertSays(output, "unregistered true, channels 0");
    }

    /** Compared with Netty's own. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void theEndOfALoopTellsOfTheErrorThatHasEndedIt(String netty) throws Exception {
        String line = "ended true by java.lang.InternalError: broken";
        assertSays(run(netty, "error"), line);
        assertSays(ApplicationProcess.of(LoopApplication.class, "error").onNetty(netty).run(), line);
    }

    /** Bootstraps of Netty count on it, and close what they have made. Who waits for the channel's end gets it. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aChannelForWhichThereIsNoLoopIsClosed(String netty) throws Exception {
        String ended = run(netty, "ended");
        assertSays(ended, "failed RejectedExecutionException, open false, closed true");
        assertSays(ended, "its loop has ended true");
        assertSays(ended, "elsewhere IllegalStateException, open true");
        String output = run(netty, "no-loop");
        assertEquals(2, output.lines().filter(
                "failed RejectedExecutionException: no more selectors, open false, closed true"::equals).count(), output);
        assertSays(output, "ended true");
    }

    /** On one of its own: it would keep the only carrier from all other virtual threads. */
    @ParameterizedTest
    @CsvSource({"4.1, factory, TakenEventLoop", "4.1, executor, TakenEventLoop", "4.2, factory, TakenIoEventLoop",
            "4.2, executor, TakenIoEventLoop"})
    void aLoopRunsOnAPlatformThread(String netty, String what, String loop) throws Exception {
        String output = ApplicationProcess.of(VirtualThreads.class, what).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED", "-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1").withAgent("").run();
        assertSays(output, loop + " on own-0, virtual false, daemon true");
        assertSays(output, "another ran true");
        if (what.equals("executor")) {
            assertSays(output, "interrupted true, executor ended false");
        }
        assertSays(output, "executor ended true");
    }
}
