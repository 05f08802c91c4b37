// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChildReportsTest {
    private static final String FAILURE = "the disk\nis full: 100 %";
    private static final Row ROW = new Row(TransportKind.UCX, "of \"Netty\"\n= 4", new Times(0.1, Double.NaN), 1L << 60);

    record Times(double mean, double worst) {
    }

    record Row(TransportKind transport, String software, Times times, long count) {
    }

    /** Says one of everything, in the order given. */
    static final class Talking {
        public static void main(String[] arguments) throws Exception {
            for (var what : arguments) {
                switch (what) {
                    case "listening" -> ChildReports.listening(new HostAndPort("::1", 7));
                    case "progress" -> new ChildReports.OfProgress().at(0.5);
                    case "result" -> ChildReports.result(List.of(ROW, ROW));
                    case "failure" -> ChildReports.failure(FAILURE);
                    default -> System.out.println(what);
                }
            }
            System.in.readAllBytes();
        }
    }

    private static ChildProcess start(String... what) {
        return ChildProcess.start("the child", Talking.class, List.of(what), ChildReports::isReport);
    }

    @Test
    void aResultIsTheSameInTheOtherProcess() throws Exception {
        try (var server = start("listening"); var client = start("a warning", "progress", "result")) {
            assertEquals("[::1]:7", ChildReports.addressOf(server));
            var seen = new ArrayList<Double>();
            var progress = new Progress() {
                @Override
                public void at(double fraction) {
                    seen.add(fraction);
                }
            };
            assertEquals(List.of(ROW, ROW),
                    List.of(ChildReports.resultOf(client, Row[].class, server, progress, Long.MAX_VALUE)));
            assertEquals(List.of(0.5), seen);
            assertEquals(List.of("a warning"), client.errors());
        }
    }

    @Test
    void aFailureIsToldInItsWords() throws Exception {
        try (var server = start("failure")) {
            var failure = assertThrows(ExampleFailure.class, () -> ChildReports.addressOf(server));
            assertEquals("the child failed: " + FAILURE, failure.getMessage());
        }
    }

    /** The client only knows that its connection is gone. */
    @Test
    void theEndOfTheServerIsTheReasonWhyAClientFails() throws Exception {
        try (var server = start(); var client = start("failure")) {
            server.stop();
            var failure = assertThrows(ExampleFailure.class,
                    () -> ChildReports.resultOf(client, Row.class, server, Progress.SILENT, Long.MAX_VALUE));
            assertTrue(failure.getMessage().startsWith("the child ended too early"), failure.getMessage());
        }
    }

    @Test
    void nothingIsWaitedForWithoutEnd() throws Exception {
        try (var server = start(); var client = start()) {
            var failure = assertThrows(ExampleFailure.class,
                    () -> ChildReports.resultOf(client, Row.class, server, Progress.SILENT, 1));
            assertEquals("the child failed: it has not said 'result' within 1 s", failure.getMessage());
        }
    }
}
