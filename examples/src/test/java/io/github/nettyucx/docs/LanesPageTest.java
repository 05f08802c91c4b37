// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import io.github.nettyucx.examples.info.Info;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The commands of docs/lanes.md have the effect that the page promises. */
@Timeout(200)
class LanesPageTest {
    private static final Path PAGE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs/lanes.md");
    private static final Pattern VARIABLE = Pattern.compile("UCX_\\w+");
    private static final Pattern COMMAND =
            Pattern.compile("^(?:(\\w+)=(\\S+) )?\\./run-example\\.sh info ?(.*)$", Pattern.MULTILINE);
    private static final Pattern LOOPBACK = Pattern.compile("^ *IPv4, loopback +(\\S+), of (.*)$", Pattern.MULTILINE);

    /** What a connection over the loopback interface takes, which is first of all by each command. */
    private static final Map<String, String> PROMISED = Map.of(
            "UCX_TLS=posix", "posix",
            "--lane tcp", "tcp",
            "--lane socket", "socket",
            "UCX_NET_DEVICES=lo", "tcp");

    @Test
    void eachCommandChoosesTheLaneThatItIsThereFor() throws Exception {
        Set<String> run = new HashSet<>();
        for (var command : COMMAND.matcher(Files.readString(PAGE)).results().toList()) {
            var environment = new HashMap<String, String>();
            if (command.group(1) != null) {
                environment.put(command.group(1), command.group(2));
            }
            var arguments = command.group(3).isEmpty() ? new String[0] : command.group(3).split(" ");
            var outcome = ExampleProcess.withEnvironment(environment, Info.class, arguments);
            var lanes = LOOPBACK.matcher(outcome.out());
            assertTrue(lanes.find(), outcome.out());
            assertFalse(unusedVariables(outcome.err()).contains(command.group(1)), outcome.err());
            var choice = command.group(1) == null ? command.group(3) : command.group(1) + "=" + command.group(2);
            assertTrue(lanes.group(1).matches(PROMISED.getOrDefault(choice, "none, for this is not expected")),
                    outcome.out());
            if (choice.equals("UCX_NET_DEVICES=lo")) {
                assertFalse(lanes.group(2).contains("tcp/eth"), lanes.group(2));
                assertTrue(lanes.group(2).contains("tcp/lo"), lanes.group(2));
            }
            run.add(choice);
        }
        assertEquals(PROMISED.keySet(), run);
    }

    /** As soon as the user has exported one, UCX names those as well that the transport sets for other lanes. */
    private static Set<String> unusedVariables(String err) {
        return err.lines().filter(line -> line.contains("unused environment variable"))
                .flatMap(line -> VARIABLE.matcher(line).results()).map(MatchResult::group).collect(Collectors.toSet());
    }
}
