// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * UCX's settings have a decimal point where the user's language has a comma: the virtual machine takes over the user's
 * locale for the whole process, and UCX reads numbers as that locale has them.
 */
@Tag("ucx-matrix")
class DecimalPointTest {

    private static final String LOCALE = "de_DE.UTF-8";

    @TempDir
    Path directory;

    /** Few machines have a locale with a comma, so it is made. */
    @BeforeEach
    void makeLocale() throws InterruptedException {
        try {
            Process made = new ProcessBuilder("localedef", "-i", "de_DE", "-f", "UTF-8", "--no-archive",
                    directory.resolve(LOCALE).toString())
                    .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            assumeTrue(made.waitFor() == 0, "localedef cannot make " + LOCALE + ": the sources of locales are missing");
        } catch (IOException e) {
            assumeTrue(false, "there is no localedef: " + e.getMessage());
        }
    }

    @Test
    void settingsAreReadAsTheyAreWritten() throws Exception {
        List<String> lines = run("UCX_TLS=all");
        assertTrue(lines.contains("all read"), lines::toString);
    }

    @Test
    void settingsOfTheEnvironmentAreReadAsTheyAreWritten() throws Exception {
        List<String> lines = run("UCX_BCOPY_BW=2.5GBps");
        assertTrue(lines.contains("all read"), lines::toString);
    }

    /** A transport reads its settings when a worker is made. */
    @Test
    void settingsOfTransportsAreReadAsTheyAreWritten() throws Exception {
        List<String> lines = run("UCX_SYSV_BW=2.5GBps");
        assertTrue(lines.contains("all read"), lines::toString);
    }

    private List<String> run(String setting) throws Exception {
        return JavaProgram.run(directory, DecimalPointMain.class, "LOCPATH=" + directory, "LC_ALL=" + LOCALE, setting);
    }
}
