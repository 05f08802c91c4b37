// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class RegistrationTest {

    @ParameterizedTest
    @CsvSource({"AUTO, false, true, false", "ALWAYS, true, true, true", "NEVER, false, false, false"})
    void eachSettingIsForItsKindsOfLinks(Registration setting, boolean shm, boolean rdma, boolean tcp) {
        assertEquals(shm, setting.appliesTo(LinkKind.SHM));
        assertEquals(rdma, setting.appliesTo(LinkKind.RDMA));
        assertEquals(tcp, setting.appliesTo(LinkKind.TCP));
    }
}
