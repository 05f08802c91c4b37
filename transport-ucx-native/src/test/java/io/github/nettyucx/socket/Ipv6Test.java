// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whether a machine has IPv6 is found out once. Each test has a process of its own for that. */
@Timeout(60)
class Ipv6Test {

    /** Where there are no descriptors just then, the socket that is wanted says so itself. */
    @Test
    void aWantOfDescriptorsIsNoWantOfIpv6() throws Exception {
        assertEquals("true " + KernelSocket.isIpv6Available(), answers(Errno.EMFILE));
    }

    @Test
    void aKernelThatSaysThatItHasNoneIsBelieved() throws Exception {
        assertEquals("false false", answers(Errno.EAFNOSUPPORT));
    }

    /** As in a container whose rules allow IPv4 alone. */
    @Test
    void soIsOneThatForbidsIt() throws Exception {
        assertEquals("false false", answers(Errno.EACCES));
    }

    private static String answers(int errno) throws Exception {
        // Says here, and not there, that there is no such thing.
        Seccomp.refusing(Errno.EIO, () -> 0, Seccomp.WRITEV);
        Process process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1", "-Xmx64m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Ipv6Main.class.getName(), Integer.toString(errno))).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), output);
            return output.lines().toList().getLast();
        } finally {
            process.destroyForcibly();
        }
    }
}
