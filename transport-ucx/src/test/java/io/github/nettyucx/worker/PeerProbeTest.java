// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class PeerProbeTest {

    @ParameterizedTest
    @CsvSource({"30, 10, 2, 10", "3, 1, 1, 2", "1, 1, 1, 1", "60, 20, 4, 10", "100, 33, 6, 12"})
    void aThirdOfTheTimeIsForTheFirstProbe(int timeout, int idle, int interval, int count) {
        assertEquals(new SocketTable.Probing(idle, interval, count), PeerProbe.probing(timeout));
    }

    @ParameterizedTest
    @CsvSource({"-1, 30", "0, 0", "1, 1", "32767, 32767", "32768, 30"})
    void aLimitOutOfRangeIsTakenForTheDefault(int timeout, int taken) {
        assertEquals(taken, PeerProbe.checked(timeout));
    }
}
