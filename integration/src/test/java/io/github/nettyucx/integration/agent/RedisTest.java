// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A server that is not Java, a Redis, and a client on Netty, Lettuce: over TCP as without the agent, and as fast. */
@Tag("alone")
@Timeout(240)
class RedisTest {

    private static final int ONE_BY_ONE = 4_000;
    private static final int PIPELINED = 10 * ONE_BY_ONE;
    /** To the speed without the agent in the same pair of runs, of the best of some: the machine has others to serve. */
    private static final double SLOWEST = 0.9;
    private static final int PAIRS = 8;
    private static final long START_MILLIS = 20_000;

    @TempDir
    Path directory;

    private record Run(long oneByOne, long pipelined, String answers, LaneReport lanes) {
    }

    private Process startRedis(int port) throws IOException, InterruptedException {
        Process redis;
        try {
            redis = new ProcessBuilder("redis-server", "--bind", "127.0.0.1", "--port", Integer.toString(port), "--save", "",
                    "--appendonly", "no", "--dir", directory.toString())
                    .redirectErrorStream(true).redirectOutput(directory.resolve("redis.log").toFile()).start();
        } catch (IOException e) {
            Assumptions.abort("there is no redis-server on the PATH; Debian's package of that name has it");
            throw e;
        }
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
        while (!accepts(port)) {
            assertTrue(redis.isAlive() && System.nanoTime() < deadline, "redis-server does not serve");
            // It tells nobody when it is ready.
            Thread.sleep(20);
        }
        return redis;
    }

    private static boolean accepts(int port) {
        try (Socket probe = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static Run run(boolean agent, int port) throws Exception {
        try (JavaProcess client = JavaProcess.startMain(agent, JavaProcess.application("lettuce"), RedisApplication.class,
                Integer.toString(port), Integer.toString(ONE_BY_ONE), Integer.toString(PIPELINED))) {
            long pipelined = Long.parseLong(client.awaitLine("pipelined "));
            long oneByOne = Long.parseLong(client.awaitLine("one by one "));
            String answers = client.awaitLine("answers ");
            return new Run(oneByOne, pipelined, answers, LaneReport.of(client.awaitEnd()));
        }
    }

    @Test
    void goesOnOverTcpAndAsFast() throws Exception {
        int port = FreePorts.take();
        Process redis = startRedis(port);
        try {
            double oneByOne = 0;
            double pipelined = 0;
            // In turns, who is first. Further pairs only where one is slower.
            for (int pair = 0; pair < PAIRS && Math.min(oneByOne, pipelined) < SLOWEST; pair++) {
                boolean agentFirst = pair % 2 == 1;
                Run first = run(agentFirst, port);
                Run second = run(!agentFirst, port);
                Run with = agentFirst ? first : second;
                Run without = agentFirst ? second : first;
                requireTcp(with.lanes);
                assertEquals(without.answers, with.answers);
                double ofOne = (double) with.oneByOne / without.oneByOne;
                double ofMany = (double) with.pipelined / without.pipelined;
                System.out.printf("Lettuce and a Redis, over TCP: %,d requests/s one by one and %,d pipelined without the "
                        + "agent, %,d (%.2f) and %,d (%.2f) with it%n", without.oneByOne, without.pipelined, with.oneByOne,
                        ofOne, with.pipelined, ofMany);
                oneByOne = Math.max(oneByOne, ofOne);
                pipelined = Math.max(pipelined, ofMany);
            }
            assertTrue(oneByOne >= SLOWEST && pipelined >= SLOWEST, oneByOne + " and " + pipelined
                    + " of the speed without the agent");
        } finally {
            redis.destroyForcibly().waitFor();
        }
    }

    private static void requireTcp(LaneReport lanes) {
        assertTrue(lanes.connections(false, "client") > 0 && lanes.connections(true, "client") == 0, lanes.output());
        assertTrue(lanes.rows().stream().allMatch(row -> row.lane().equals("socket")), lanes.output());
    }
}
