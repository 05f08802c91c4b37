// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.transparent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.nettyucx.examples.ExampleProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class TransparentTest {
    private static final Path MODULE = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
            .resolveSibling("agent").resolve("target");

    private static Path agent() throws Exception {
        assumeTrue(Files.isDirectory(MODULE), "the agent's jar has not been built");
        try (var jars = Files.newDirectoryStream(MODULE, "netty-ucx-agent-*.jar")) {
            for (var jar : jars) {
                if (!jar.toString().matches(".*-(sources|javadoc)\\.jar")) {
                    return jar;
                }
            }
        }
        return Assumptions.abort("the agent's jar has not been built: 'mvn verify' does");
    }

    @Test
    void showsTheLanesAndComparesThem() throws Exception {
        var outcome = ExampleProcess.withOptions(
                List.of("-D" + UnmodifiedProcess.AGENT_PROPERTY + "=" + agent()), Transparent.class, "--seconds", "2");
        outcome.assertClean();
        var out = outcome.out();
        assertTrue(out.matches("(?s).*\nwithout +tcp +[\\d,]+ +–\nwith +(sysv|posix) +[\\d,]+ +[\\d.]+× (faster|slower)\n.*"),
                out);
        var http = out.substring(out.indexOf("Netty's HTTP server, one request each:"));
        for (var row : List.of("without Netty's, without tcp", "without Netty's, with the agent socket", "without curl tcp",
                "with Netty's, without socket", "with Netty's, with the agent (sysv|posix)", "with curl socket")) {
            var line = "(?m)^" + row.replaceFirst("(\\S+)$", "Hello World $1").replace(" ", " +") + " *$";
            assertTrue(Pattern.compile(line).matcher(http).find(), () -> line + " in\n" + out);
        }
    }

    @Test
    void takesItsChildrenAlongWhenItIsStopped() throws Exception {
        try (var comparison = ExampleProcess.start(Transparent.class, "--seconds", "3600")) {
            var children = List.<ProcessHandle>of();
            while (children.size() < 2) {
                assertTrue(comparison.process().isAlive());
                TimeUnit.MILLISECONDS.sleep(20);
                children = comparison.process().children().toList();
            }
            try {
                comparison.process().toHandle().destroy();
                for (var child : children) {
                    child.onExit().get(30, TimeUnit.SECONDS);
                }
            } finally {
                children.forEach(ProcessHandle::destroyForcibly);
            }
        }
    }

    @Test
    void saysWhereTheAgentWouldBe() throws Exception {
        var outcome = ExampleProcess.withOptions(List.of("-D" + UnmodifiedProcess.AGENT_PROPERTY + "=/nowhere.jar"),
                Transparent.class, "--seconds", "1");
        outcome.assertFailed(1).assertSaid("transparent: the agent's jar is not there: /nowhere.jar");
    }

    @Test
    void refusesOtherTimes() throws Exception {
        var outcome = ExampleProcess.run(Transparent.class, "--seconds", "0");
        assertEquals(2, outcome.exitCode());
        outcome.assertSaid("transparent: --seconds: 0 will not do. Expected 1 to 3600.");
    }
}
