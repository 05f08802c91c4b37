// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * How the fake UCX of one run behaves.
 *
 * @param inlinePercent       operations that complete before their call returns
 * @param rendezvousThreshold from which length on a message may be a rendezvous, in bytes
 * @param rendezvousPercent   those of them that are
 * @param hurriedPercent      turns that deliver all that has arrived, rather than some of it
 * @param lossy               messages can get lost, and so they are counted; but none does
 */
record Weather(int inlinePercent, int rendezvousThreshold, int rendezvousPercent, int hurriedPercent, boolean lossy) {

    static Weather of(Dice dice) {
        return new Weather(dice.pick(0, 20, 50, 90, 100), dice.pick(1, 64, 500, 2000, 20_000), dice.pick(0, 50, 100),
                dice.pick(0, 50, 100), dice.chance(50));
    }
}
