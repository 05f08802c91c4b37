// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.faults.Child;
import io.github.nettyucx.processes.Namespaces;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

/** There is no shared memory for a region: because there is not enough, or because UCX may allocate none. */
class OneSidedNoRoomTest {

    /** In namespaces of its own, which have less. */
    @Test
    void memoryThatIsNotSharedSaysSoAndIsReachedByItsOwner() throws Exception {
        List<String> small = Namespaces.prepared("mount -t tmpfs -o size=64m tmpfs /dev/shm");
        try (Child child = Child.start(small, List.of("-Dio.github.nettyucx.tls=posix"), OneSidedNoRoomMain.class,
                "posix", true)) {
            child.await("done", 60);
        }
    }

    /** These move bytes of memory that is there, and allocate none. */
    @ParameterizedTest
    @ValueSource(strings = {"xpmem", "cma"})
    void soDoesMemoryThatUcxMayNotAllocateAsShared(String transport) throws Exception {
        try (Child child = Child.start(List.of(), List.of("-Dio.github.nettyucx.lanes=tcp",
                "-Dio.github.nettyucx.tls=tcp," + transport), OneSidedNoRoomMain.class, "tcp", false)) {
            child.await("done", 60);
        }
    }
}
