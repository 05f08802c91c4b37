// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The options of the transports that the agent replaces have their effect, or the channel stays as it was. */
@Timeout(180)
class ChannelOptionsTest {

    private static String run(String what, String netty) throws Exception {
        String output = ApplicationProcess.of(OptionApplication.class, what).onNetty(netty)
                .with("--enable-native-access=ALL-UNNAMED").withAgent("report").run();
        assumeTrue(!output.contains("no epoll"), "this machine has no epoll for Netty");
        assertSays(output, "ended true");
        return output;
    }

    private static void assertSays(String output, String line) {
        assertTrue(output.lines().anyMatch(line::equals), output);
    }

    private static void assertTaken(String output) {
        assertFalse(output.contains("left as it was"), output);
    }

    // ------------------------------------------------------------------------------------------- of factories

    /** By the JDK's constant, and by Netty's for its native transports. */
    @ParameterizedTest
    @CsvSource({"nio-servers, oldest", "nio-servers, 4.1", "nio-servers, 4.2", "epoll-servers, oldest", "epoll-servers, 4.1",
            "epoll-servers, 4.2"})
    void twoServersOfAFactoryShareAPort(String what, String netty) throws Exception {
        String output = run(what, netty);
        assertSays(output, "UcxServerSocketChannel, second is bound true");
        assertTaken(output);
    }

    /** And no others, but the one that a channel of this transport has by itself. */
    @ParameterizedTest
    @CsvSource({"nio-client, oldest", "nio-client, 4.1", "nio-client, 4.2", "epoll-client, oldest", "epoll-client, 4.1",
            "epoll-client, 4.2"})
    void whatAFactoryHasSetForTheClientsSocketHolds(String what, String netty) throws Exception {
        String output = run(what, netty);
        String same = "KEEP_IDLE_SECONDS=20, KEEP_INTERVAL_SECONDS=5, KEEP_COUNT=4, NO_DELAY=0";
        assertSays(output, "options {" + (what.equals("epoll-client")
                ? same + ", USER_TIMEOUT_MILLIS=20000, RECEIVE_BUFFER=40000" : "REUSE_PORT=1, " + same) + '}');
        assertTaken(output);
    }

    /** Netty's NIO has its own option for the JDK's, which means the contrary. */
    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void datagramsOfAFactoryAreNotLooped(String netty) throws Exception {
        assertSays(run("nio-datagrams", netty), "loop disabled true");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.1", "4.2"})
    void aSubclassOfNettysFactoryIsOneOfTheApplications(String netty) throws Exception {
        String output = run("nio-subclass", netty);
        assertSays(output, "UcxSocketChannel");
        assertSays(output, "linger 7");
    }

    // ------------------------------------------------------------------------------------------- needed

    /** The transport's channels have nothing in their place. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "freebind | EpollServerSocketChannel at /192\\.0\\.2\\.7:\\d+ | IP_FREEBIND",
            "freebind-of-factory | EpollServerSocketChannel at /192\\.0\\.2\\.7:\\d+ | IP_FREEBIND",
            "original-destination | EpollDatagramChannel | IP_RECVORIGDSTADDR",
            "transparent | EpollSocketChannel | IP_TRANSPARENT",
            "generic | EpollSocketChannel | SO_PRIORITY",
            "signed-children | EpollServerSocketChannel | TCP_MD5SIG"})
    void channelsThatNeedAnOptionOfEpollStayAsTheyWere(String what, String channel, String option) throws Exception {
        for (String netty : new String[] {"oldest", "4.1", "4.2"}) {
            String output = run(what, netty);
            assertTrue(output.lines().anyMatch(line -> line.matches(channel)), output);
            String reason = "channels with the option " + option;
            assertEquals(1, output.lines().filter(line -> line.endsWith("(said once): " + reason)).count(), output);
            assertEquals(1, output.lines().filter(line -> line.contains("left as it was: ") && line.contains(reason)).count(),
                    output);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"not-transparent", "nio-transparent"})
    void channelsThatGoWithoutItInAnyCaseAreTakenOver(String what) throws Exception {
        String output = run(what, "4.1");
        assertSays(output, "UcxSocketChannel");
        assertTaken(output);
    }
}
