// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ucx-matrix")
class UcsStatusTest {

    @Test
    void anExceptionSaysWhatFailedInUcxWordsWithNumberAndName() {
        UcxException e = UcsStatus.exception("Sending a letter", UcsStatus.ERR_CONNECTION_RESET);
        assertEquals("Sending a letter: Connection reset by remote peer (status -25, CONNECTION_RESET)",
                e.getMessage());
        assertEquals(-25, e.status());
    }

    @Test
    void aStatusThatIsUnknownHereStillMakesAMessage() {
        assertTrue(UcsStatus.exception("x", -77).getMessage().endsWith("(status -77, UNKNOWN)"));
    }

    @Test
    void eachIsCalledAsItsConstant() throws IllegalAccessException {
        for (Field constant : UcsStatus.class.getFields()) {
            assertEquals(constant.getName().replaceFirst("^ERR_", ""), UcsStatus.name(constant.getInt(null)));
        }
        assertEquals("UNKNOWN", UcsStatus.name(-26));
        assertEquals("UNKNOWN", UcsStatus.name(Integer.MIN_VALUE));
        assertEquals("UNKNOWN", UcsStatus.name(2));
    }

    @Test
    void onlyNegativeStatusesAreErrors() {
        assertDoesNotThrow(() -> UcsStatus.check("x", UcsStatus.OK));
        assertDoesNotThrow(() -> UcsStatus.check("x", UcsStatus.INPROGRESS));
        assertThrows(UcxException.class, () -> UcsStatus.check("x", UcsStatus.ERR_BUSY));
        assertTrue(UcsStatus.isError(UcsStatus.ERR_NO_MESSAGE));
        assertFalse(UcsStatus.isError(0));
        assertFalse(UcsStatus.isError(0x7f00_0000_0000L));
        assertTrue(UcsStatus.isRequest(0x7f00_0000_0000L));
        assertFalse(UcsStatus.isRequest(0));
        assertFalse(UcsStatus.isRequest(UcsStatus.ERR_CANCELED));
    }
}
