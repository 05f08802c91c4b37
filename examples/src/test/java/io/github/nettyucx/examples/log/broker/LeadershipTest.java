// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.cluster.Node;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class LeadershipTest {
    private static final long SECONDS = 40;

    @TempDir
    private Path directory;

    /** Runs something behind each task, in the same turn. */
    private static final class Loop extends SingleThreadEventExecutor {
        private Runnable behind = () -> { };

        Loop() {
            super(null, Executors.defaultThreadFactory(), true);
        }

        @Override
        public void execute(Runnable task) {
            super.execute(() -> {
                task.run();
                behind.run();
            });
        }

        @Override
        protected void run() {
            do {
                var task = takeTask();
                if (task != null) {
                    runTask(task);
                    updateLastExecutionTime();
                }
            } while (!confirmShutdown());
        }
    }

    private static int freePort() throws Exception {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void await(Loop loop, String what, BooleanSupplier condition) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!loop.submit(condition::getAsBoolean).get(SECONDS, TimeUnit.SECONDS)) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            // Between two looks: nothing tells of it.
            Thread.sleep(10);
        }
    }

    /** A broker alone: nobody else can lead meanwhile. */
    @Test
    void afterWhatIsNotForeseenItLeadsNoMoreAndLaterAgain() throws Exception {
        var node = new Node(new HostAndPort("127.0.0.1", freePort()), freePort());
        var settings = BrokerSettings.in(directory).withCluster(new ClusterSettings("test", node, List.of(node)));
        var loop = new Loop();
        var leadership = new Leadership(settings, TransportKind.NIO, loop);
        var topics = Topics.open(settings, leadership, loop);
        try {
            var failed = new boolean[1];
            loop.behind = () -> {
                // It has begun an epoch, and has not confirmed yet that it leads: it does so with its next tick.
                if (!failed[0] && !leadership.permits(Set.of())) {
                    failed[0] = true;
                    topics.partitions().add(null);
                }
            };
            leadership.start(topics);
            await(loop, "it has not begun", () -> failed[0]);
            await(loop, "nothing has failed", () -> leadership.permits(Set.of()) && !leadership.isLeading());
            loop.submit(() -> topics.partitions().removeLast()).get(SECONDS, TimeUnit.SECONDS);
            var before = leadership.epoch();
            await(loop, "it does not lead again", () -> leadership.isLeading() && leadership.epoch() > before);
        } finally {
            leadership.leave();
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
            leadership.close();
            topics.close();
        }
    }
}
