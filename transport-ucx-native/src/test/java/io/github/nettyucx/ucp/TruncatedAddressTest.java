// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** UCX reads on where an address ends too early, see {@link UcpEndpointParams#workerAddress}. */
@Tag("ucx-matrix")
class TruncatedAddressTest {

    @TempDir
    Path directory;

    @Test
    void anAddressThatEndsTooEarlyIsRefusedWhereverItEnds() throws Exception {
        List<String> expected = new ArrayList<>();
        for (Links links : Links.values()) {
            expected.add(links.transport() + " truncated [INVALID_PARAM]");
            expected.add(links.transport() + " whole CONNECTED 0");
        }
        assertEquals(expected, JavaProgram.run(directory, TruncatedAddressMain.class).stream()
                .filter(line -> line.matches("\\w+ (truncated|whole) .*")).toList());
    }
}
