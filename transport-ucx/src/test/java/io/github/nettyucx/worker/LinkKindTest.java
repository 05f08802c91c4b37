// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class LinkKindTest {

    @ParameterizedTest
    @CsvSource(nullValues = "null", quoteCharacter = '"', value = {
        "null, shm, \"rc,ud\", tcp", "\"\", shm, \"rc,ud\", tcp", "all, shm, \"rc,ud\", tcp", "\"all,tcp\", shm, \"rc,ud\", tcp",
        "\"shm,tcp\", shm, null, tcp", "\"sysv, posix, tcp\", \"sysv,posix\", null, tcp", "sm, sm, null, null",
        "\"rc,shm\", shm, rc, null", "rc_x, null, rc_x, null", "^rc, \"sysv,posix\", \"ud_mlx5,ud_verbs\", tcp", "ud_verbs, null, ud_verbs, null",
        "tcp, null, null, tcp", "^posix, sysv, \"rc_mlx5,rc_verbs,ud_mlx5,ud_verbs\", tcp",
        "\"^shm,tcp\", null, \"rc_mlx5,rc_verbs,ud_mlx5,ud_verbs\", null", "^all, null, null, null",
        "ib, null, \"rc,ud\", null", "\"shm,ib\", shm, \"rc,ud\", null", "dc, null, null, null",
        "dc_mlx5, null, null, null", "\"dc_x,ud\", null, ud, null", "^dc, \"sysv,posix\", \"rc_mlx5,rc_verbs,ud_mlx5,ud_verbs\", tcp"
    })
    void eachKindHasThoseOfItsTransportsThatAreAllowed(String allowed, String shm, String rdma, String tcp) {
        assertEquals(shm, LinkKind.SHM.transports(allowed));
        assertEquals(rdma, LinkKind.RDMA.transports(allowed));
        assertEquals(tcp, LinkKind.TCP.transports(allowed));
    }
}
