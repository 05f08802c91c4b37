// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LaneSetTest {

    @Test
    void keepsTheOrder() {
        LaneSet set = LaneSet.parse("socket,tcp,shm");
        assertEquals(List.of(LaneKind.SOCKET, LaneKind.TCP, LaneKind.SHM), set.kinds());
        assertEquals("socket,tcp,shm", set.toString());
        assertEquals(0b1101, set.mask());
        assertTrue(set.contains(LaneKind.TCP));
        assertFalse(set.contains(LaneKind.RDMA));
        assertEquals(set, LaneSet.parse(" Socket, TCP ,shm"));
        assertEquals(set.hashCode(), LaneSet.parse("socket,tcp,shm").hashCode());
        assertNotEquals(set, LaneSet.parse("shm,tcp,socket"));
    }

    @Test
    void hasNoTcpOfUcxByDefault() {
        assertEquals("shm,rdma,socket", LaneSet.DEFAULT.toString());
        assertEquals(LaneSet.DEFAULT, LaneSet.parse("shm,rdma,socket"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "''         | a name is missing",
        "shm,,tcp   | a name is missing",
        "shm,       | a name is missing",
        "shm,infini | there is no lane \"infini\"",
        "tcp,shm,TCP| \"tcp\" stands there twice",
    })
    void saysWhatIsWrong(String text, String what) {
        String tried = text.equals("''") ? "" : text;
        String problem = assertThrows(IllegalArgumentException.class, () -> LaneSet.parse(tried)).getMessage();
        assertEquals("lanes \"" + tried + "\": " + what + "; expected one or more of shm, rdma, tcp, socket,"
                + " best first, with commas between them", problem);
    }
}
