// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.github.nettyucx.socket.KernelSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** What the agent does not take over goes on as it would have without it, and is named. */
@Timeout(180)
class LeftAsItWasTest {

    private static String run(String what) throws Exception {
        return run(what, what.startsWith("own-group") ? "4.2" : "4.1");
    }

    private static String run(String what, String netty) throws Exception {
        return ApplicationProcess.of(OddApplication.class, what).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED").withAgent("report").run();
    }

    private static void assertAnswered(String output) {
        assertWorked(output);
        assertSays(output, "answer true odd");
    }

    /** In a line of its own, which may be the first. */
    private static void assertSays(String output, String line) {
        assertTrue(output.lines().anyMatch(line::equals), output);
    }

    private static void assertWorked(String output) {
        assertTrue(output.contains("\nended true\n"), output);
        assertFalse(output.contains("Exception"), output);
        assertFalse(output.contains("WARN"), output);
    }

    // ------------------------------------------------------------------------------------------- parts of Netty

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "subclass | OwnClient of the client, OwnServer of the server | channels of the class .*OddApplication.OwnServer",
            "bounded-executor-subclass | OwnClient of the client, OwnServer of the server | channels of the class .*OwnServer",
            "initializer | UcxSocketChannel of the client, NioServerSocketChannel of the server | takes .*NioSocketChannel only",
            "own-provider | NioSocketChannel of the client, NioServerSocketChannel | selectors are of .*EPollSelectorProvider",
            "own-group | NioSocketChannel of the client, NioServerSocketChannel | makes its own loops",
            "own-group-of-netty | NioSocketChannel of the client, NioServerSocketChannel | makes its own loops",
            "with-handlers | NioSocketChannel of the client, UcxServerSocketChannel | bound, connected or given handlers",
            "local | LocalChannel of the client, LocalServerChannel of the server | channels of the class .*LocalServerChannel",
            // On the loops of its group: there is nothing to warn of.
            "local-of-own-group | LocalChannel of the client, LocalServerChannel of the server | .*LocalServerChannel",
            "epoll-domain | EpollDomainSocketChannel of the client, EpollServerDomainSocketChannel | EpollDomainSocketChannel"})
    void goesOnBesideTheTransport(String what, String classes, String reason) throws Exception {
        String output = run(what);
        assertAnswered(output);
        assertTrue(output.contains('\n' + classes), output);
        assertNamed(output, reason);
        if (reason.startsWith("selectors")) {
            // One group, of two loops.
            assertEquals(1, count(output, reason + " \\(1 times\\)$"), output);
        }
    }

    /** By one line of the logger, and one of the report. */
    private static void assertNamed(String output, String reason) {
        assertEquals(1, count(output, "The agent leaves as they were \\(said once\\): .*" + reason), output);
        assertEquals(1, count(output, "  left as it was: .*" + reason), output);
    }

    private static long count(String output, String line) {
        Pattern pattern = Pattern.compile(line);
        return output.lines().filter(each -> pattern.matcher(each).find()).count();
    }

    /** The same on the loops of Netty 4.2, of which those for sockets do not take local channels. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "subclass | OwnClient of the client, OwnServer of the server | channels of the class .*OwnServer",
            "by-hand | NioSocketChannel of the client | .*NioSocketChannel that are registered without a bootstrap",
            "epoll-domain | EpollDomainSocketChannel of the client, EpollServerDomainSocketChannel of the server"
                    + " | EpollServerDomainSocketChannel",
            "own-provider | NioSocketChannel of the client, NioServerSocketChannel of the server | selectors are of"})
    void goesOnBesideTheLoopsOfNetty42(String what, String classes, String reason) throws Exception {
        String output = run(what, "4.2");
        assertAnswered(output);
        assertTrue(output.contains('\n' + classes + '\n'), output);
        assertNamed(output, reason);
        assertEquals(what.equals("by-hand") ? 1 : 0, count(output, "said once.* without a bootstrap"), output);
    }

    /** The application may know its loops, and does not know the one beside. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aServerOnAGroupOfTheApplicationsOwnIsWarnedOf(String netty) throws Exception {
        String output = run("subclass-of-both", netty);
        assertSays(output, "answer true odd");
        assertSays(output, "OwnClient of the client, OwnServer of the server");
        assertEquals(1, count(output, "WARN.*OddApplication.OwnServer .* of the group .*OddApplication.UsualGroup "), output);
        assertEquals(1, count(output, "WARN"), output);
    }

    /** It cannot go on as without the agent, and is told what to do. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void anApplicationThatMovesItsChannelsIsWarned(String netty) throws Exception {
        String output = run("moves", netty);
        assertSays(output, "answer true odd");
        assertEquals(2, count(output, "^moved false$"), output);
        assertEquals(1, count(output, "WARN.* is not deregistered .*needs -Dio.github.nettyucx.agent=off"), output);
    }

    /** A group is known by its class, whose application could not go on otherwise. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void anApplicationThatIsKnownToMoveItsChannelsGoesOn(String netty) throws Exception {
        String output = run("moves-as-is-known", netty);
        assertAnswered(output);
        assertEquals(2, count(output, "^moved true$"), output);
        assertNamed(output, "org.apache.ignite.*NamedNioEventLoopGroup, whose application moves connected channels to other loops");
    }

    /** They may share what is not safe for two threads. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aClientOnTheLoopOfATakenChannelIsWarnedOf(String netty) throws Exception {
        String output = run("one-loop", netty);
        assertSays(output, "answer true odd");
        assertSays(output, "UcxSocketChannel and OwnClient, on one loop false");
        assertEquals(1, count(output, "WARN.*OddApplication.OwnClient is on another thread "), output);
        assertEquals(1, count(output, "WARN"), output);
    }

    /** The property is the JDK's. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void selectorsThatAreSetForTheWholeJvmStayAsTheyWere(String netty) throws Exception {
        String output = ApplicationProcess.of(OddApplication.class, "provider-of-the-jvm").onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "-Djava.nio.channels.spi.SelectorProvider=" + OwnProvider.class.getName()).withAgent("report").run();
        assertAnswered(output);
        assertSays(output, "NioSocketChannel of the client, NioServerSocketChannel of the server");
        assertNamed(output, "a group whose selectors are of io.github.nettyucx.agent.OwnProvider");
    }

    @Test
    void aChannelOfABootstrapThatIsRegisteredAgainIsStillOne() throws Exception {
        String output = run("again");
        assertSays(output, "registered again true");
        assertNamed(output, "channels of the class .*OddApplication.OwnClient");
        assertEquals(0, count(output, " without a bootstrap"), output);
    }

    /** The loop beside the transport's has the application's channel; what the application made itself stays. */
    @Test
    void aChannelThatIsRegisteredByHand() throws Exception {
        String output = run("by-hand");
        assertAnswered(output);
        assertTrue(output.contains("\nNioSocketChannel of the client\n"), output);
        assertNamed(output, "channels of the class .*NioSocketChannel that are registered without a bootstrap");
    }

    /** As Netty takes them: it looks at the channel alone, and refuses a loop that is none. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void oddRegistrationsAreWhatTheyAreWithoutTheAgent(String netty) throws Exception {
        String output = run("odd-registrations", netty);
        assertWorked(output);
        assertSays(output, "succeeded true, registered true, the other one is open true");
        assertSays(output, "refused");
    }

    /** It has no channel. Netty 4.2 only. */
    @Test
    void aHandleThatIsRegistered() throws Exception {
        String output = run("handle", "4.2");
        assertWorked(output);
        assertSays(output, "registered true");
        assertNamed(output, "handles of the class .*OwnHandle.* that are registered without a bootstrap");
    }

    // ------------------------------------------------------------------------------------------- what is taken over

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "datagrams | UcxDatagramChannel of the client",
            "configured | UcxSocketChannel of the client, UcxServerSocketChannel of the server"})
    void isTakenOverOnNetty42(String what, String classes) throws Exception {
        String output = run(what, "4.2");
        assertAnswered(output);
        assertTrue(output.contains('\n' + classes + '\n'), output);
        assertFalse(output.contains("left as it was"), output);
    }

    @Test
    void whatAFactoryHasConfiguredHolds() throws Exception {
        String output = run("configured");
        assertAnswered(output);
        assertTrue(output.contains("\nUcxSocketChannel of the client"), output);
        assertTrue(output.contains("\nwater mark WriteBufferWaterMark(low: 17, high: 4711) linger 7\n"), output);
    }

    /** A channel that has been taken over is of the transport's class: who names that expects what the application's does. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void theClassOfATakenChannelConnectsToOrdinaryServers(String netty) throws Exception {
        String output = run("class-of-channel", netty);
        assertAnswered(output);
        assertTrue(output.contains("\nUcxSocketChannel of the client"), output);
    }

    @ParameterizedTest
    @CsvSource({"ipv4, oldest", "ipv4, 4.1", "ipv4, 4.2", "epoll-ipv4, oldest", "epoll-ipv4, 4.1", "epoll-ipv4, 4.2"})
    void theFamilyThatAFactoryHasChosenHolds(String what, String netty) throws Exception {
        String output = run(what, netty);
        assertWorked(output);
        assertSays(output, "UcxServerSocketChannel and UcxDatagramChannel");
        assertSays(output, "over IPv4: connected, taken");
        assertSays(output, "over IPv6: refused, unreachable");
    }

    /** So that the test above means something. */
    @Test
    void withoutAFamilyBothHold() throws Exception {
        String output = run("both-families");
        assertWorked(output);
        assumeTrue(KernelSocket.isIpv6Available(), "this machine has no IPv6");
        assertSays(output, "over IPv6: connected, taken");
    }

    @Test
    void threadsOfTheApplicationsOwnAreEnough() throws Exception {
        String output = run("bounded-executor");
        assertAnswered(output);
        assertTrue(output.contains("\nUcxSocketChannel of the client"), output);
    }

    @Test
    void optionsOfEpollDoNoHarm() throws Exception {
        String output = run("epoll-options");
        assumeTrue(output.contains("epoll true"), "this machine has no epoll for Netty");
        assertAnswered(output);
        assertTrue(output.contains("\nboth true\n"), output);
        assertTrue(output.contains("\nUcxSocketChannel of the client\n"), output);
    }

    @Test
    void datagramsStayOnTheirLoop() throws Exception {
        String output = run("datagrams");
        assertAnswered(output);
        assertTrue(output.contains("\nUcxDatagramChannel of the client\n"), output);
    }

    /** Of Netty's native transports. */
    @ParameterizedTest
    @ValueSource(strings = {"oldest", "4.1", "4.2"})
    void aPacketOfSegmentsIsSeveralDatagrams(String netty) throws Exception {
        String output = run("epoll-segments", netty);
        assertWorked(output);
        assertSays(output, "came one two six .");
        assertSays(output, "UcxDatagramChannel of the client");
    }

    @Test
    void nettysResolverWorks() throws Exception {
        String output = run("resolver");
        assertWorked(output);
        assertSays(output, "answer odd.example./192.0.2.7");
    }

    // ------------------------------------------------------------------------------------------- everything

    private static void assertLeft(String output, String reason) {
        assertTrue(output.contains("\nclient NioSocketChannel on NioEventLoop\n"), output);
        assertTrue(output.contains("\nechoed 200\n"), output);
        assertTrue(output.contains("\nended true\n"), output);
        assertFalse(output.contains("Exception"), output);
        assertEquals(1, output.lines().filter(line -> line.contains(reason)).count(), output);
    }

    private static ApplicationProcess.Builder echo(String... options) throws Exception {
        return ApplicationProcess.of(EchoApplication.class, "NIO").onNetty("4.1").with(options).withAgent("");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "-Dio.github.nettyucx.agent=off | it is switched off by -Dio.github.nettyucx.agent=off",
            "-Dio.netty.transport.noNative=true | native transports are switched off by -Dio.netty.transport.noNative=true",
            "-Dio.github.nettyucx.library=/nowhere/libucp.so.0 | /nowhere/libucp.so.0 does not exist",
            "-Dos.name=Plan9 | it is for Linux, and this is Plan9",
            "-Dos.arch=riscv64 | it is for x86-64 and aarch64, and this is riscv64"})
    void theApplicationRunsAsWithoutTheAgent(String option, String reason) throws Exception {
        assertLeft(echo(option).run(), reason);
    }

    /** All that it prints is the same, but for one line. */
    @ParameterizedTest
    @CsvSource({"older, NIO, 4.1.99.Final", "older, EPOLL, 4.1.99.Final", "4.0, NIO, 4.0.56.Final",
            "4.2-older, NIO, 4.2.6.Final", "4.2-older, NIO_HANDLER, 4.2.6.Final"})
    void anOlderNettyStaysAsItWas(String netty, String transport, String release) throws Exception {
        List<String> without = echoInOneLineEach(netty, transport).run().lines().toList();
        assertTrue(without.contains("echoed 200") && without.contains("ended true"), without::toString);
        List<String> with = new ArrayList<>(echoInOneLineEach(netty, transport).withAgent("").run().lines().toList());
        assertTrue(with.remove("INFO io.netty stays as it was: it is " + release
                + "; expected Netty 4.1.100 or later, or 4.2.7 or later"), with::toString);
        assertEquals(without, with);
    }

    private static ApplicationProcess.Builder echoInOneLineEach(String netty, String transport) throws Exception {
        return ApplicationProcess.of(EchoApplication.class, transport).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED", "-Duser.language=en",
                        "-Djava.util.logging.SimpleFormatter.format=%4$s %5$s%n");
    }

    @Test
    void anArgumentThatThereIsNotIsTold() throws Exception {
        assertLeft(ApplicationProcess.of(EchoApplication.class, "NIO").onNetty("4.1").withAgent("repotr").run(),
                "'repotr' is not known (expected: -javaagent:JAR, or -javaagent:JAR=report)");
    }

    /** What is made ready ahead is nothing that anybody could see. */
    @Test
    void anApplicationThatMakesNoGroupGetsNoUcx() throws Exception {
        assertEquals("ucx false\nnoted null\n",
                ApplicationProcess.of(GroupOnlyLoaded.class).onNetty("4.1").withAgent("").run());
    }

    /** The agent's entry is a class of Java 8. */
    @ParameterizedTest
    @ValueSource(ints = {8, 11, 17, 21})
    void anOlderJavaIsTold(int release) throws Exception {
        Path older = jvm(release);
        assumeTrue(older != null, "no Java " + release + " in /usr/lib/jvm");
        Path jar = ApplicationProcess.agentJar();
        Process process = new ProcessBuilder(older.resolve("bin/java").toString(), "-javaagent:" + jar, "-version")
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("it needs Java 25 or later, and this is Java "), output);
        assertTrue(output.contains("version \""), output);
    }

    private static Path jvm(int release) throws Exception {
        if (!Files.isDirectory(Path.of("/usr/lib/jvm"))) {
            return null;
        }
        try (Stream<Path> homes = Files.list(Path.of("/usr/lib/jvm"))) {
            return homes.filter(home -> Files.isExecutable(home.resolve("bin/java")) && isOf(home, release)).findFirst()
                    .orElse(null);
        }
    }

    private static boolean isOf(Path home, int release) {
        try {
            return Files.readString(home.resolve("release")).contains("JAVA_VERSION=\"" + (release == 8 ? "1.8" : release));
        } catch (java.io.IOException e) {
            return false;
        }
    }

    /** The class path has the agent's entry, and neither Netty nor the transport. */
    @Test
    void theAgentsJarHasNothingInTheOpen() throws Exception {
        try (java.util.jar.JarFile jar = new java.util.jar.JarFile(ApplicationProcess.agentJar().toFile())) {
            assertEquals(java.util.Set.of("io/github/nettyucx/agent/Agent.class",
                            "io/github/nettyucx/agent/AgentClassLoader.class"),
                    jar.stream().map(java.util.jar.JarEntry::getName).filter(name -> name.endsWith(".class"))
                            .collect(java.util.stream.Collectors.toSet()));
        }
    }
}
