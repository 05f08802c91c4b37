// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * What one side of a seeded run has announced to the other.
 *
 * @param channelId  not 0, and unique on its side of the link
 * @param window     in bytes
 * @param maxMessage in bytes
 */
record Announced(int channelId, int window, int maxMessage) {

    static Announced of(Dice dice, int channelId) {
        int window = dice.pick(Limits.MIN_WINDOW, Limits.MIN_WINDOW, dice.between(Limits.MIN_WINDOW, 20_000), 65_536,
                262_144);
        int maxMessage = dice.pick(window / 4, window / 4, window / 4, window, dice.between(1, window), 100);
        return new Announced(channelId, window, Math.min(maxMessage, 100_000));
    }
}
