// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example as a user runs it. */
@Timeout(240)
class InfoTest {
    @Test
    void tellsAllAboutAUcxThatWorks() throws Exception {
        var out = ExampleProcess.run(Info.class).assertClean().out();
        assertFact(out, "available", "yes");
        assertFact(out, "version", "1\\.\\d+\\.\\d+");
        assertFact(out, "library", ".*libucp\\.so\\.0");
        assertTrue(out.contains(" tcp/lo\n"), out);
        assertFact(out, "lane shm", "can be had");
        assertFact(out, "lane rdma", "(can be had|no: .*RDMA.*)");
        for (var address : ConnectionProbe.addresses().keySet()) {
            assertFact(out, address, "(sysv|posix), of (sysv|posix)/memory.*");
        }
        assertFact(out, "kernel", "Linux .*");
        assertFact(out, "open files", "\\S+, at most \\S+.*");
        assertFact(out, "kernel.shmmax", "\\d{2,} bytes");
        assertFact(out, "/dev/shm", "[\\d,]+ MiB, [\\d,]+ MiB of it free");
        assertFact(out, "version", Pattern.quote(Runtime.version().toString()) + ".*");
        assertFact(out, "Netty", "4\\.\\d+\\.\\d+.*");
        assertFact(out, "UCX_MM_ERROR_HANDLING", "y");
        assertFact(out, "UCX_ERROR_SIGNALS", "\\(empty\\)");
    }

    @Test
    void namesTheLaneThatWasAskedFor() throws Exception {
        var out = ExampleProcess.run(Info.class, "--lane", "tcp").assertClean().out();
        assertFact(out, "IPv4, loopback", "tcp, of tcp/lo.*");
        assertFact(out, "io.github.nettyucx.lanes", "tcp");
        out = ExampleProcess.run(Info.class, "--lane", "socket").assertClean().out();
        assertFact(out, "IPv4, loopback", "socket, of socket");
    }

    @Test
    void saysWhyThereIsNoUcxAndFailsAlthoughConnectionsCanBeMade() throws Exception {
        var out = ExampleProcess.withOptions(List.of("-Dio.github.nettyucx.library=/nowhere/at/all"), Info.class,
                "--devices").assertFailed(1).out();
        assertFact(out, "available", "no");
        assertTrue(Pattern.compile("^ +cause .*/nowhere/at/all", Pattern.MULTILINE).matcher(out).find(), out);
        assertFact(out, "IPv4, loopback", "socket, of socket");
        assertFact(out, "kernel", "Linux .*");
        assertTrue(out.contains("UCX is not available"), out);
    }

    /** Which is found beside the library. */
    @Test
    void tellsTheRestFirstWhenUcxInfoHangs(@TempDir Path directory) throws Exception {
        var program = Files.writeString(Files.createDirectory(directory.resolve("bin")).resolve("ucx_info"),
                "#!/bin/sh\nexec sleep 60\n");
        assertTrue(program.toFile().setExecutable(true));
        try (var info = ExampleProcess.startWith(List.of("-Dio.github.nettyucx.library=bundled",
                "-Dio.github.nettyucx.workdir=" + directory), Info.class, "--devices")) {
            while (!info.line().startsWith("  Netty ")) {
                assertTrue(info.process().isAlive());
            }
            // It has not ended by itself before the rest was told.
            while (info.process().descendants().findAny().isEmpty()) {
                assertTrue(info.process().isAlive());
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    @Test
    void alignsFactsOfSeveralLines() {
        assertEquals("""
                One
                  a    1
                       2
                  bcd  3

                Two
                  none
                """, new Report().section("One").fact("a", "1\n2\n").fact("bcd", 3).section("Two").render());
    }

    private static void assertFact(String out, String name, String value) {
        assertTrue(Pattern.compile("^ +" + Pattern.quote(name) + "  +" + value + "$", Pattern.MULTILINE)
                .matcher(out).find(), () -> name + " is not " + value + " in\n" + out);
    }
}
