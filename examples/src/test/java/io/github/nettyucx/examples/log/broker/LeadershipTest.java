// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.FreePort;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.cluster.Node;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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

    private static void await(Loop loop, String what, BooleanSupplier condition) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!loop.submit(condition::getAsBoolean).get(SECONDS, TimeUnit.SECONDS)) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            // Between two looks: nothing tells of it.
            Thread.sleep(10);
        }
    }

    /** A broker alone: nobody else can lead meanwhile. */
    private static final class Alone implements AutoCloseable {
        private final Loop loop = new Loop();
        private final Leadership leadership;
        private final Topics topics;

        Alone(Path directory) throws Exception {
            var random = new SplittableRandom();
            var node = new Node(new HostAndPort("127.0.0.1", FreePort.take(random)), FreePort.take(random));
            var settings = BrokerSettings.in(directory).withCluster(new ClusterSettings("test", node, List.of(node)));
            leadership = new Leadership(settings, TransportKind.NIO, loop);
            topics = Topics.open(settings, leadership, loop);
            leadership.serve(topics);
        }

        @Override
        public void close() throws Exception {
            leadership.leave();
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
            leadership.close();
            topics.close();
        }
    }

    /** As on a full disk. Others could make it, if there were any; this one leads again when it can, 10 s later. */
    @Test
    void aNewTopicThatCannotBeMadeIsLeftToOthers() throws Exception {
        try (var broker = new Alone(directory)) {
            var loop = broker.loop;
            var leadership = broker.leadership;
            var topics = broker.topics;
            leadership.start();
            await(loop, "it does not lead", leadership::isLeading);
            var before = leadership.epoch();
            var obstacle = Files.createFile(directory.resolve("late"));
            var made = new CompletableFuture<Topics.Topic>();
            loop.execute(() -> leadership.makeTopic("late", 1, (topic, cause) -> {
                if (cause == null) {
                    made.complete(topic);
                } else {
                    made.completeExceptionally(cause);
                }
            }));
            var failure = assertThrows(ExecutionException.class, () -> made.get(SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(IOException.class, failure.getCause());
            assertFalse(loop.submit(leadership::isLeading).get(SECONDS, TimeUnit.SECONDS), "it still leads");
            Files.delete(obstacle);
            await(loop, "it does not lead again", () -> leadership.isLeading() && leadership.epoch() > before);
            assertEquals(new Topics.Topic(0, 1), loop.submit(() -> topics.find("late", 1)).get(SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void afterWhatIsNotForeseenItLeadsNoMoreAndLaterAgain() throws Exception {
        try (var broker = new Alone(directory)) {
            var loop = broker.loop;
            var leadership = broker.leadership;
            var topics = broker.topics;
            var failed = new boolean[1];
            loop.behind = () -> {
                // It has begun an epoch, and has not confirmed yet that it leads: it does so with its next tick.
                if (!failed[0] && !leadership.permits(Set.of())) {
                    failed[0] = true;
                    topics.partitions().add(null);
                }
            };
            leadership.start();
            await(loop, "it has not begun", () -> failed[0]);
            await(loop, "nothing has failed", () -> leadership.permits(Set.of()) && !leadership.isLeading());
            loop.submit(() -> topics.partitions().removeLast()).get(SECONDS, TimeUnit.SECONDS);
            var before = leadership.epoch();
            await(loop, "it does not lead again", () -> leadership.isLeading() && leadership.epoch() > before);
        }
    }
}
