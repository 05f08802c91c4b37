// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.LogException;
import java.util.List;

/**
 * What a broker has of a partition.
 *
 * @param end the offset behind the last record
 * @param epochs in which the records were written
 */
record History(long end, List<EpochHistory.Entry> epochs) {

    /** @return the offset behind the last record that the leader has as well */
    long commonEnd(History leaders) throws LogException {
        if (!EpochHistory.isRising(leaders.epochs)) {
            throw new LogException("the leader's epochs do not rise: " + leaders.epochs);
        }
        return EpochHistory.commonEnd(epochs, end, leaders.epochs, leaders.end);
    }
}
