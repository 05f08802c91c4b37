// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Assumptions;
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
@Timeout(240)
class RedisTest {

    private static final int ONE_BY_ONE = 4_000;
    private static final int PIPELINED = 10 * ONE_BY_ONE;
    /** Of the better of two runs each, for a machine that has others to serve. */
    private static final double SLOWEST = 0.7;
    private static final int PAIRS = 2;
    private static final long START_MILLIS = 20_000;

    @TempDir
    Path directory;

    private record Run(long oneByOne, long pipelined, String answers, LaneReport lanes) {

        Run better(Run other) {
            return new Run(Math.max(oneByOne, other.oneByOne), Math.max(pipelined, other.pipelined), answers, lanes);
        }
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
            Run without = run(false, port);
            Run with = run(true, port);
            for (int pair = 1; pair < PAIRS; pair++) {
                without = without.better(run(false, port));
                with = with.better(run(true, port));
            }
            double oneByOne = (double) with.oneByOne / without.oneByOne;
            double pipelined = (double) with.pipelined / without.pipelined;
            System.out.printf("Lettuce and a Redis, over TCP: %,d requests/s one by one and %,d pipelined without the agent, "
                    + "%,d (%.2f) and %,d (%.2f) with it%n", without.oneByOne, without.pipelined, with.oneByOne, oneByOne,
                    with.pipelined, pipelined);
            assertEquals(without.answers, with.answers);
            LaneReport lanes = with.lanes;
            assertTrue(lanes.connections(false, "client") > 0 && lanes.connections(true, "client") == 0, lanes.output());
            assertTrue(lanes.rows().stream().allMatch(row -> row.lane().equals("socket")), lanes.output());
            assertTrue(oneByOne >= SLOWEST && pipelined >= SLOWEST, () -> oneByOne + " and " + pipelined
                    + " of the speed without the agent");
        } finally {
            redis.destroyForcibly().waitFor();
        }
    }
}
