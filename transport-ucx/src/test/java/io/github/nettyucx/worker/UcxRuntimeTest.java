// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class UcxRuntimeTest {

    @ParameterizedTest
    @CsvSource(nullValues = "null", quoteCharacter = '"', value = {
        "null, ^shm", "\"\", ^shm", "all, ^shm", "\"all,tcp\", ^shm",
        "\"shm,tcp\", tcp", "\"sysv, posix, tcp\", tcp", "\"rc,shm,tcp\", \"rc,tcp\"", "tcp, tcp",
        "^posix, \"^posix,shm\"", "shm, shm"
    })
    void otherHostsAreReachedWithoutSharedMemory(String tls, String expected) {
        assertEquals(expected, UcxRuntime.withoutSharedMemory(tls));
    }
}
