// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.faults.Child;
import io.github.nettyucx.processes.Namespaces;
import org.junit.jupiter.api.Test;

import java.util.List;

/** There is shared memory for links, and not enough for a region as well. In namespaces of its own, which have less. */
class OneSidedNoRoomTest {

    @Test
    void memoryThatIsNotSharedSaysSoAndIsReachedByItsOwner() throws Exception {
        List<String> small = Namespaces.prepared("mount -t tmpfs -o size=64m tmpfs /dev/shm");
        try (Child child = Child.start(small, List.of("-Dio.github.nettyucx.tls=posix"), OneSidedNoRoomMain.class)) {
            child.await("done", 60);
        }
    }
}
