// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class LinkKindTest {

    @ParameterizedTest
    @CsvSource(nullValues = "null", quoteCharacter = '"', value = {
        "null, shm, ib, tcp", "\"\", shm, ib, tcp", "all, shm, ib, tcp", "\"all,tcp\", shm, ib, tcp",
        "\"shm,tcp\", shm, null, tcp", "\"sysv, posix, tcp\", \"sysv,posix\", null, tcp", "sm, sm, null, null",
        "\"rc,shm\", shm, rc, null", "rc_x, null, rc_x, null", "^rc, \"sysv,posix\", \"dc_mlx5,ud_mlx5,ud_verbs\", tcp", "ud_verbs, null, ud_verbs, null",
        "tcp, null, null, tcp", "^posix, sysv, \"rc_mlx5,rc_verbs,dc_mlx5,ud_mlx5,ud_verbs\", tcp",
        "\"^shm,tcp\", null, \"rc_mlx5,rc_verbs,dc_mlx5,ud_mlx5,ud_verbs\", null", "^all, null, null, null"
    })
    void eachKindHasThoseOfItsTransportsThatAreAllowed(String allowed, String shm, String rdma, String tcp) {
        assertEquals(shm, LinkKind.SHM.transports(allowed));
        assertEquals(rdma, LinkKind.RDMA.transports(allowed));
        assertEquals(tcp, LinkKind.TCP.transports(allowed));
    }
}
