// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * In which turns a loop looks at its sockets, and who is told. The socket has something to tell all the time, so that each
 * look is seen by what it finds.
 */
class WatchedSocketsTest {

    private static final int TURNS_PER_LOOK = 256;
    private static final int TURNS_OF_WORK = 256;
    private static final int RUNS_PER_CLOCK = 8;
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private Epoll epoll;
    private WatchedSockets sockets;
    private KernelSocket socket;
    private int told;
    private long nanos = -1;
    private int clockReads;

    @BeforeEach
    void watch() throws IOException {
        epoll = new Epoll();
        sockets = new WatchedSockets(epoll, () -> {
            clockReads++;
            return nanos;
        });
        // One that is not connected says so as long as it is asked.
        socket = KernelSocket.stream(false);
        sockets.watch(socket, Epoll.OUT, events -> told++);
    }

    @AfterEach
    void close() {
        socket.close();
        epoll.close();
    }

    /** @return the turns in which the loop looked, counted from 1 */
    private List<Integer> looks(int turns, int workInEach, boolean spins) {
        List<Integer> looks = new ArrayList<>();
        for (int turn = 1; turn <= turns; turn++) {
            if (sockets.poll(workInEach, spins) > 0) {
                looks.add(turn);
            }
        }
        return looks;
    }

    /** So many looks, one in each turn, and then no other before the turn that has this number. */
    private void assertLooksInEachTurnAndThenIn(int inEach, int next) {
        assertEquals(inEach, looks(inEach, 0, true).size(), "looks while there is work");
        assertEquals(List.of(next), looks(next, 0, true));
    }

    @Test
    void aLoopThatSpinsLooksInEvery256thTurn() {
        assertEquals(List.of(TURNS_PER_LOOK, 2 * TURNS_PER_LOOK, 3 * TURNS_PER_LOOK),
                looks(4 * TURNS_PER_LOOK - 1, 0, true));
        assertEquals(3, told);
    }

    @Test
    void oneThatSleepsLooksInEveryTurn() {
        assertEquals(TURNS_PER_LOOK, looks(TURNS_PER_LOOK, 0, false).size());
        assertEquals(TURNS_PER_LOOK, told);
    }

    /** Four messages count for a turn, and less for none. */
    @ParameterizedTest
    @CsvSource({"3, 256", "4, 128", "7, 128", "8, 86", "28, 32", "1020, 1"})
    void turnsInWhichMuchIsDoneCountForMore(int work, int turns) {
        assertEquals(List.of(turns, 2 * turns), looks(2 * turns, work, true));
    }

    @Test
    void whileBytesGoOverSocketsItLooksInEveryTurn() {
        sockets.noteWork();
        assertLooksInEachTurnAndThenIn(TURNS_OF_WORK, TURNS_PER_LOOK);
    }

    /** They are counted from the last of these bytes on, and the turns before them are not forgotten. */
    @Test
    void workThatGoesOnIsFollowedAsLong() {
        assertEquals(List.of(), looks(56, 0, true));
        sockets.noteWork();
        assertEquals(100, looks(100, 0, true).size());
        sockets.noteWork();
        assertLooksInEachTurnAndThenIn(TURNS_OF_WORK, TURNS_PER_LOOK - 56);
    }

    @Test
    void afterALongTurnItLooksOnce() {
        assertEquals(List.of(), looks(TURNS_PER_LOOK - 1, 0, true));
        sockets.noteBusy();
        assertEquals(List.of(1, 1 + TURNS_PER_LOOK), looks(1 + TURNS_PER_LOOK, 0, true));
    }

    /** @return the turns in which the loop looked, of those in each of which channels run for so long */
    private List<Integer> looksWhileChannelsRun(int turns, long nanosInEach) {
        List<Integer> looks = new ArrayList<>();
        for (int turn = 1; turn <= turns; turn++) {
            if (sockets.poll(1, true) > 0) {
                looks.add(turn);
            }
            nanos += nanosInEach;
            sockets.noteRun();
        }
        return looks;
    }

    @Test
    void whileHandlersTakeLongItLooksInEveryTurn() {
        assertEquals(List.of(9, 10, 11, 12), looksWhileChannelsRun(12, LONG_NANOS));
        assertEquals(List.of(1, 1 + TURNS_PER_LOOK), looksWhileChannelsRun(1 + TURNS_PER_LOOK, 1), "short ones");
    }

    @Test
    void eightTurnsThatTakeLongTogetherAreFollowedByALook() {
        assertEquals(List.of(9, 18, 27), looksWhileChannelsRun(27, LONG_NANOS / RUNS_PER_CLOCK));
    }

    @Test
    void shortHandlersCostAClockReadInEightTurns() {
        clockReads = 0;
        assertEquals(List.of(TURNS_PER_LOOK), looksWhileChannelsRun(TURNS_PER_LOOK, LONG_NANOS / RUNS_PER_CLOCK - 1));
        assertEquals(TURNS_PER_LOOK / RUNS_PER_CLOCK, clockReads);
    }

    /** And the turns to the next look go on. */
    @Test
    void whatASleepHasFoundIsToldWithoutAnotherLook() throws IOException {
        assertEquals(List.of(), looks(56, 0, true));
        sockets.fetched(epoll.await(0));
        assertEquals(List.of(1, 1 + TURNS_PER_LOOK - 56), looks(1 + TURNS_PER_LOOK - 56, 0, true));
        assertEquals(2, told);
    }

    /** A loop that sleeps after each message asks the kernel once for each. */
    @Test
    void theLookBeforeASleepIsLeftToIt() throws IOException {
        for (int message = 1; message <= 3; message++) {
            sockets.fetched(epoll.await(0));
            assertEquals(List.of(1), looks(1, 0, false));
            sockets.leaveLookToSleep();
            assertEquals(List.of(), looks(1, 0, false));
            assertEquals(message, told);
        }
        assertEquals(List.of(1, 2), looks(2, 0, false), "only that one");
    }

    @Test
    void aLoopThatDoesNotSleepAfterAllMakesUpForItsLook() {
        assertEquals(0, sockets.makeUpForLook(), "nothing has been left out");
        sockets.leaveLookToSleep();
        assertEquals(0, sockets.makeUpForLook(), "not yet");
        assertEquals(List.of(), looks(1, 0, false));
        assertEquals(1, sockets.makeUpForLook());
        assertEquals(1, told);
        assertEquals(0, sockets.makeUpForLook(), "once");
        assertEquals(List.of(1), looks(1, 0, false));
        assertEquals(0, sockets.makeUpForLook(), "it has looked");
    }

    /** In a turn in which the loop would not have looked anyway, nothing is left out. */
    @Test
    void whatIsNotDueIsNotMadeUpFor() {
        sockets.leaveLookToSleep();
        assertEquals(List.of(), looks(1, 0, true));
        assertEquals(0, sockets.makeUpForLook());
    }

    @Test
    void aSleepThatCouldNotTellOfAllIsFollowedByALook() throws IOException {
        List<KernelSocket> many = new ArrayList<>();
        try {
            for (int i = 0; i < 256; i++) {
                KernelSocket one = KernelSocket.stream(false);
                many.add(one);
                sockets.watch(one, Epoll.OUT, events -> told++);
            }
            sockets.fetched(epoll.await(0));
            assertEquals(List.of(1), looks(1, 0, false));
            sockets.leaveLookToSleep();
            assertEquals(List.of(1), looks(1, 0, false));
            assertEquals(2 * 256, told);
        } finally {
            many.forEach(one -> {
                sockets.unwatch(one);
                one.close();
            });
        }
    }

    @Test
    void withoutSocketsItDoesNotLook() throws IOException {
        sockets.unwatch(socket);
        // Somebody else's in the same epoll: a look would find it.
        epoll.add(socket.fd(), Epoll.OUT, 0);
        assertEquals(List.of(), looks(2 * TURNS_PER_LOOK, 0, false));
        sockets.noteWork();
        assertEquals(List.of(), looks(TURNS_OF_WORK, 0, true));
    }

    /** A socket's number may be another one's by the time that its events are told. */
    @Test
    void lateEventsFindNobody() throws IOException {
        int events = epoll.await(0);
        assertEquals(1, events);
        sockets.unwatch(socket);
        sockets.watch(socket, Epoll.OUT, another -> told += 100);
        sockets.fetched(events);
        sockets.poll(0, true);
        assertEquals(0, told);
        sockets.poll(0, false);
        assertEquals(100, told);
    }

    @Test
    void somebodyElseIsToldFromThenOn() {
        sockets.rewatch(socket, events -> told += 100);
        sockets.poll(0, false);
        assertEquals(100, told);
    }

    @Test
    void whoeverThrowsKeepsNobodyFromBeingTold() throws IOException {
        try (KernelSocket other = KernelSocket.stream(false)) {
            sockets.rewatch(socket, events -> fail());
            sockets.watch(other, Epoll.OUT, events -> fail());
            assertEquals(2, sockets.poll(0, false));
            assertEquals(2, told);
            sockets.unwatch(other);
        }
    }

    private void fail() {
        told++;
        throw new IllegalStateException("of the test");
    }
}
