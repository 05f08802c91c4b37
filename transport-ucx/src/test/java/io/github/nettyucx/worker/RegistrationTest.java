// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RegistrationTest {

    @ParameterizedTest
    @CsvSource({"auto, false, true, false", "ALWAYS, true, true, true", " never, false, false, false"})
    void eachSettingIsForItsKindsOfLinks(String setting, boolean shm, boolean rdma, boolean tcp) {
        assertEquals(shm, Registration.of(setting).appliesTo(LinkKind.SHM));
        assertEquals(rdma, Registration.of(setting).appliesTo(LinkKind.RDMA));
        assertEquals(tcp, Registration.of(setting).appliesTo(LinkKind.TCP));
    }

    @Test
    void anotherSettingIsRefusedWithThoseThatThereAre() {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> Registration.of("sometimes"));
        assertTrue(refusal.getMessage().startsWith("io.github.nettyucx.registration: sometimes"), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("auto, always, never"), refusal::getMessage);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, ReceivePool.PAGE, 1 << 30})
    void aPoolMayHaveAnySizeOfAPageOrMoreAndNone(int size) {
        assertEquals(size, ReceivePool.checkedSize(size));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, ReceivePool.PAGE - 1, (1 << 30) + 1})
    void aPoolOfAnotherSizeIsRefused(int size) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> ReceivePool.checkedSize(size));
        assertTrue(refusal.getMessage().startsWith("io.github.nettyucx.receivePoolSize: " + size), refusal::getMessage);
    }
}
