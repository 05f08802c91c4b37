// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A class that has another name now would be passed over in silence. */
class FirstConnectionTest {

    @Test
    void namesClassesThatThereAre() {
        Set<String> seen = new HashSet<>();
        for (FirstConnection.Room room : FirstConnection.ROOMS) {
            for (String name : room.classes().split("\\s+")) {
                String full = "io.github.nettyucx." + room.name() + '.' + name;
                assertNotNull(FirstConnection.loadOne(full, FirstConnection.class.getClassLoader()), full);
                assertTrue(seen.add(full), full + " stands there twice");
            }
        }
        new FirstConnection().run();
    }
}
