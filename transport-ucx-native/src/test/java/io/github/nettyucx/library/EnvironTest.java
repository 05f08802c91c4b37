// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Variables are set for C code, and nobody who reads the environment meanwhile is disturbed. */
@Timeout(120)
class EnvironTest {
    private static final int PROCESSES = 40;
    /** What is set stays in memory. */
    private static final int MOST = 20_000;
    private static final int NAMES = 20;

    @Test
    void cCodeSeesWhatIsSet() {
        assertNull(Libc.getenv("UCX_TEST_ENVIRON_A"));
        Environ.put(Map.of("UCX_TEST_ENVIRON_A", "1", "UCX_TEST_ENVIRON_B", "with = and ä"));
        assertEquals("1", Libc.getenv("UCX_TEST_ENVIRON_A"));
        assertEquals("with = and ä", Libc.getenv("UCX_TEST_ENVIRON_B"));
        Environ.put(Map.of("UCX_TEST_ENVIRON_A", ""));
        assertEquals("", Libc.getenv("UCX_TEST_ENVIRON_A"));
        assertEquals("with = and ä", Libc.getenv("UCX_TEST_ENVIRON_B"));
        assertEquals(System.getenv("PATH"), Libc.getenv("PATH"));
    }

    @Test
    void whatIsTakenAwayIsGone() {
        Environ.put(Map.of("UCX_TEST_ENVIRON_F", "1", "UCX_TEST_ENVIRON_G", "2"));
        Environ.put(Collections.singletonMap("UCX_TEST_ENVIRON_F", null));
        assertNull(Libc.getenv("UCX_TEST_ENVIRON_F"));
        assertEquals("2", Libc.getenv("UCX_TEST_ENVIRON_G"));
        assertEquals(System.getenv("PATH"), Libc.getenv("PATH"));
    }

    /** By setenv too: its list and this one take each other's place. */
    @Test
    void setenvGoesOnFromThere() {
        Environ.put(Map.of("UCX_TEST_ENVIRON_C", "1"));
        Libc.setenv("UCX_TEST_ENVIRON_D", "2");
        Libc.setenv("UCX_TEST_ENVIRON_C", "3");
        Environ.put(Map.of("UCX_TEST_ENVIRON_E", "4"));
        assertEquals("3", Libc.getenv("UCX_TEST_ENVIRON_C"));
        assertEquals("2", Libc.getenv("UCX_TEST_ENVIRON_D"));
        assertEquals("4", Libc.getenv("UCX_TEST_ENVIRON_E"));
    }

    /** With setenv in the place of put one in twenty fails here: its list is moved and freed under the reader's hands. */
    @Test
    void processesCanBeStartedMeanwhile() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Thread setter = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < MOST && !done.get(); i++) {
                Environ.put(Map.of("UCX_TEST_ENVIRON_" + i % NAMES, Integer.toString(i)));
            }
        });
        try {
            for (int i = 0; i < PROCESSES; i++) {
                startProcess();
            }
        } finally {
            done.set(true);
            setter.join();
        }
    }

    private static void startProcess() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("true").start();
        assertEquals(true, process.waitFor(20, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue());
    }
}
