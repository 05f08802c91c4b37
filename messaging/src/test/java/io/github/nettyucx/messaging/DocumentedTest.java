// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DocumentedTest {

    private static final Path ROOT = Files.exists(Path.of("docs/messaging.md")) ? Path.of("") : Path.of("..");
    private static final Path SOURCE = Path.of("messaging/src/test/java/io/github/nettyucx/messaging/Greetings.java");

    @Test
    @Timeout(60)
    void theExampleRuns() {
        assertEquals(new Greetings.Greeting(2026, "Hello, world"), Greetings.greet());
    }

    @Test
    void thePageShowsTheExample() throws IOException {
        String source = Files.readString(ROOT.resolve(SOURCE));
        String example = source.substring(source.indexOf("// begin\n") + 9, source.indexOf("    // end"));
        assertTrue(Files.readString(ROOT.resolve("docs/messaging.md")).contains("```java\n" + example.stripTrailing().stripIndent() + "\n```"),
                "docs/messaging.md does not have what is between begin and end in " + SOURCE);
    }
}
