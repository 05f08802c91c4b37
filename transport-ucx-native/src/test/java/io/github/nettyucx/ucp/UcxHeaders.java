// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** The public headers of the releases of UCX that the build unpacks for tests. */
final class UcxHeaders {

    private static final String PROPERTY = "io.github.nettyucx.test.include.";

    private UcxHeaders() {
    }

    /** @param release {@code 1.16} or {@code 1.22} */
    static Path of(String release) {
        String include = System.getProperty(PROPERTY + release);
        assertNotNull(include, "The property " + PROPERTY + release
                + " must name the directory with the headers of UCX " + release);
        assertTrue(Files.exists(Path.of(include, "ucp/api/ucp.h")), "There are no UCX headers in " + include);
        return Path.of(include);
    }
}
