// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertFalse;

/** docs/wire-protocol.md, for the tests that hold the code to it. */
public final class ProtocolPage {

    public static final Path PATH = Path.of(Files.exists(Path.of("docs")) ? "." : "..").resolve("docs/wire-protocol.md");

    private ProtocolPage() {
    }

    /** The rows of the tables with this header, without backquotes. */
    public static List<List<String>> table(String... header) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(PATH)) {
            if (!line.startsWith("|")) {
                inside = false;
                continue;
            }
            List<String> cells = Arrays.stream(line.substring(1, line.length() - 1).split("\\|"))
                    .map(cell -> cell.strip().replace("`", "")).toList();
            if (inside && !cells.getFirst().startsWith("---")) {
                rows.add(cells);
            }
            inside |= cells.equals(List.of(header));
        }
        assertFalse(rows.isEmpty(), () -> "no table of " + List.of(header));
        return rows;
    }
}
