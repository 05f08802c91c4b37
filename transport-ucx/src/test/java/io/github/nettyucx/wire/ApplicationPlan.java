// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * What an {@link Application} is going to do.
 *
 * @param bytes          to send in all
 * @param bursts         how often it writes
 * @param largestPiece   of one write, in bytes
 * @param copyPercent    messages that are copied before they are sent
 * @param readLimit      bytes of one read at most
 * @param readsPerTurn   at most
 * @param pauses         how often it stops to read, or goes on
 * @param closesWhenDone ends with a close that delivers, rather than with the end of its output alone
 * @param closesUnread   closes when all is written, whether or not the peer has ended its stream
 * @param memoryFailures how often it has no memory for the messages
 */
record ApplicationPlan(long bytes, int bursts, int largestPiece, int copyPercent, int readLimit, int readsPerTurn,
                       int pauses, boolean closesWhenDone, boolean closesUnread, int memoryFailures) {

    /** @param share one of so many channels */
    static ApplicationPlan of(Dice dice, int peerWindow, int share) {
        int piece = dice.pick(1, 50, 3000, 70_000);
        // Enough to use the window up several times, and not so many messages that a run takes long.
        int most = Math.max(1, Math.min(peerWindow * dice.between(1, 8), Math.min(piece * 200, 150_000)) / share);
        return new ApplicationPlan(dice.chance(10) ? 0 : dice.between(1, most), dice.between(1, 5), piece,
                dice.pick(0, 50, 100), dice.pick(1, 10, 700, 4096, 1 << 20), dice.pick(1, 8, 100),
                dice.pick(0, 0, 1, 4), dice.chance(50), dice.chance(20), dice.pick(0, 0, 0, 0, 1, 3));
    }
}
