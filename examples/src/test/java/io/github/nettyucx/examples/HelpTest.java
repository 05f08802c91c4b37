// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.echo.Echo;
import io.github.nettyucx.examples.http.Http;
import io.github.nettyucx.examples.pingpong.PingPong;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class HelpTest {
    @Test
    void namesEachTransportThatIsTaken() {
        for (var command : List.of(new Echo(), new Http(), new PingPong())) {
            var help = new CommandLine(command).getUsageMessage(CommandLine.Help.Ansi.OFF);
            for (var transport : TransportKind.values()) {
                assertTrue(help.matches("(?s).*\\b" + transport + "\\b.*"), () -> transport + " is not in\n" + help);
            }
        }
    }
}
