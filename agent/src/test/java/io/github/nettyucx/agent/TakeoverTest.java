// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An application of each release of Netty, with each of its transports, unmodified. */
@Timeout(180)
class TakeoverTest {

    private static ApplicationProcess.Builder application(String netty, String transport) throws Exception {
        return ApplicationProcess.of(EchoApplication.class, transport).onNetty(netty);
    }

    private static void assertWorks(String output) {
        assertTrue(output.contains("\nechoed 200\n"), output);
        assertTrue(output.contains("\nended true\n"), output);
        assertFalse(output.contains("Exception"), output);
        assertFalse(output.contains("WARN"), output);
    }

    /** Both sides of the connection by the report, and the channels by themselves. */
    private static void assertTaken(String output) {
        assertWorks(output);
        assertTrue(output.contains("\nserver UcxServerSocketChannel\n"), output);
        assertTrue(output.contains("\nclient UcxSocketChannel on Taken"), output);
        for (String side : new String[] {"client", "server"}) {
            assertTrue(output.matches("(?s).*" + ApplicationProcess.LANE_OF_MEMORY + side
                    + " +127\\.0\\.0\\.1\\S* +1 +800 +800\\b.*"), output);
        }
    }

    @ParameterizedTest
    @CsvSource({
            "oldest, NIO", "oldest, EPOLL",
            "4.1, NIO", "4.1, NIO_REFERENCES", "4.1, EPOLL", "4.1, IO_URING",
            "4.2, NIO", "4.2, NIO_REFERENCES", "4.2, EPOLL", "4.2, NIO_HANDLER", "4.2, EPOLL_HANDLER",
            "4.2, IO_URING_HANDLER"})
    void isTakenOver(String netty, String transport) throws Exception {
        IoUring.assumeFor(transport);
        String output = application(netty, transport)
                // What Netty does natively is warned of, and not our matter.
                .with("--enable-native-access=ALL-UNNAMED").withAgent("report").run();
        assertTaken(output);
    }

    /** The peer takes it when the JVM of whoever has sent it is ending. */
    @Test
    void theReportHasWhatTheEndOfTheJvmDelivers() throws Exception {
        try (ApplicationProcess server = ApplicationProcess.of(LastWordsApplication.class, "server").onNetty("4.1")
                .withAgent("report").start()) {
            String told = ApplicationProcess.of(LastWordsApplication.class, "client", server.awaitLine("listening "))
                    .onNetty("4.1").with("-Dio.github.nettyucx.exitTimeoutMillis=60000").withAgent("report").run();
            assertEquals(Integer.toString(LastWordsApplication.BYTES), server.awaitLine("got "));
            assertTrue(told.matches("(?s).*" + ApplicationProcess.LANE_OF_MEMORY + "client +127\\.0\\.0\\.1\\S* +1 +"
                    + LastWordsApplication.BYTES + " +0\\b.*"), told);
            server.awaitEnd();
        }
    }

    /** The application need not allow native access, and does not get it. */
    @Test
    void theJvmHasNothingToWarnOf() throws Exception {
        String output = application("4.1", "NIO").withAgent("").run();
        assertWorks(output);
        assertTrue(output.contains("\nclient UcxSocketChannel on Taken"), output);
        String denied = application("4.1", "NIO").withAgent("").with("--illegal-native-access=deny").run();
        assertWorks(denied);
        assertTrue(denied.contains("\nclient UcxSocketChannel on Taken"), denied);
    }

    /** A JVM that verifies nothing loads fewer of Netty's classes before the first loop. */
    @ParameterizedTest
    @ValueSource(strings = {"oldest", "4.1", "4.2"})
    void isTakenOverWithoutVerification(String netty) throws Exception {
        assertTaken(application(netty, "NIO").with("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
                .withAgent("report").run());
    }

    /** Two copies of the transport in one JVM, which have one UCX between them. */
    @ParameterizedTest
    @ValueSource(strings = {"NIO,UCX", "UCX,NIO"})
    void theApplicationMayHaveATransportOfItsOwn(String transports) throws Exception {
        String output = ApplicationProcess.of(SeveralTransports.class, transports.split(",")).onNetty("4.1")
                .on(ApplicationProcess.ownTransport()).with("--enable-native-access=ALL-UNNAMED").withAgent("report").run();
        assertTaken(output);
        assertEquals(2, output.lines().filter("echoed 200"::equals).count(), output);
        assertTrue(output.contains("\nclient UcxSocketChannel on UcxEventLoop\n"), output);
    }

    private static String modules(String netty) throws Exception {
        return ApplicationProcess.netty(netty).stream().map(Path::toString)
                .filter(jar -> !jar.contains("native") || jar.contains("native-unix-common")).collect(Collectors.joining(":"));
    }

    private static ApplicationProcess.Builder inModules(String netty, Class<?> application, String what) throws Exception {
        return ApplicationProcess.of(ModuleApplication.class, modules(netty), application.getName(), what)
                .on(List.of(ApplicationProcess.testClasses())).withAgent("report");
    }

    /** Those of Netty 4.2 say what they read, and keep to themselves what they do not open. */
    @ParameterizedTest
    @CsvSource({"4.1, NIO, true", "4.2, NIO, false", "4.2, NIO_HANDLER, false"})
    void aNettyOfModulesIsTakenOver(String netty, String transport, boolean automatic) throws Exception {
        String output = inModules(netty, EchoApplication.class, transport).run();
        assertTrue(output.startsWith("automatic " + automatic + '\n'), output);
        assertTaken(output);
        assertFalse(output.contains("as it was"), output);
    }

    /** The JVM has it read the hooks then, and does not open it. */
    @Test
    void aNettyOnTheModulePathIsTakenOver() throws Exception {
        String output = ApplicationProcess.of(EchoApplication.class, "NIO").on(List.of(ApplicationProcess.testClasses()))
                .with("--enable-native-access=ALL-UNNAMED", "--module-path=" + modules("4.2"),
                        "--add-modules=ALL-MODULE-PATH").withAgent("report").run();
        assertTaken(output);
        assertFalse(output.contains("as it was"), output);
    }

    /** Looks at private parts of it. */
    @Test
    void aFamilyThatAFactoryHasChosenHoldsInModules() throws Exception {
        String output = inModules("4.2", OddApplication.class, "ipv4").run();
        assertTrue(output.contains("\nUcxServerSocketChannel and UcxDatagramChannel\n"), output);
        assertTrue(output.contains("\nover IPv4: connected, taken\nover IPv6: refused, unreachable\n"), output);
    }

    /** Else its connections would be on other loops than those that the group is given. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aServerWhoseGroupHasNoLoopsYetIsTakenOver(String netty) throws Exception {
        String output = ApplicationProcess.of(LateLoopsApplication.class).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED").withAgent("report").run();
        assertTrue(output.contains("UcxServerSocketChannel, UcxSocketChannel on the group's loop true\nanswer late\n"), output);
        assertFalse(output.contains("as it was"), output);
    }

    /** Armeria and Reactor Netty choose the classes of their channels by it. */
    @Test
    void loopsTellThatTheyTakeWhatTheApplicationsOwnWould() throws Exception {
        String expected = "NIO: NIO true, epoll false, one loop: NIO true\nepoll: NIO false, epoll true, one loop: NIO false\n";
        for (boolean agent : new boolean[] {false, true}) {
            ApplicationProcess.Builder application = ApplicationProcess.of(HandlesApplication.class).onNetty("4.2")
                    .with("--enable-native-access=ALL-UNNAMED");
            String output = (agent ? application.withAgent("") : application).run();
            assertTrue(output.contains(expected), output);
        }
    }

    /** It takes its time, and is the application's to do. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void nobodyMakesTheJdksLoggingReady(String netty) throws Exception {
        String output = ApplicationProcess.of(QuietApplication.class).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED", "-Xlog:class+load:stdout:none").withAgent("report").run();
        assertTrue(output.contains("\nclient UcxSocketChannel on Taken"), "it has not been taken over");
        assertTrue(output.contains("\nio.netty.channel.EventLoop source: "), "no classes are told");
        assertFalse(output.contains("\njava.util.logging.LogManager source: "), "the JDK's logging has been made ready");
    }

    /** The agent has no lock while it defines classes, for which the class loader may have one. */
    @Test
    void twoThreadsMayLoadTheFirstClasses() throws Exception {
        String output = ApplicationProcess.of(TwoLoaders.class).onNetty("4.1")
                .with("--enable-native-access=ALL-UNNAMED").withAgent("report").run();
        assertTrue(output.startsWith("other BLOCKED\n"), output);
        assertTaken(output);
    }

    @Test
    void theAgentMayBeGivenTwice() throws Exception {
        String output = application("4.2", "NIO").with("--enable-native-access=ALL-UNNAMED").withAgent("report").withAgent("")
                .run();
        assertTaken(output);
        assertEquals(1, output.lines().filter(("INFO netty-ucx-agent: it is given more than once; what counts is the first"
                + " one, with its arguments")::equals).count(), output);
        assertFalse(output.contains("as it was"), output);
    }

    @Test
    void nothingIsPrintedWithoutAReport() throws Exception {
        String output = application("4.1", "NIO").withAgent("").run();
        assertFalse(output.contains("connections by lane"), output);
    }

    /** Without the agent, so that the others mean something. */
    @ParameterizedTest
    @CsvSource({"oldest, NIO", "4.1, EPOLL", "4.2, NIO_HANDLER"})
    void worksWithoutTheAgent(String netty, String transport) throws Exception {
        String output = application(netty, transport).with("--enable-native-access=ALL-UNNAMED").run();
        assertWorks(output);
        assertFalse(output.contains("Ucx"), output);
    }
}
