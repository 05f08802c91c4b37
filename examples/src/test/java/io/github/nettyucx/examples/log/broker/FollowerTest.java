// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class FollowerTest {
    private static final long SECONDS = 20;

    @TempDir
    private Path directory;
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore lost = new Semaphore(0);
    private volatile LogConnection connection;
    /** The connection of which it has been told that it is lost: it is told of twice, and the first time counts. */
    private volatile LogConnection told;
    /** Before the connection was closed: that can take long, and the others wait. */
    private volatile boolean lostInTime;

    /** Of somebody who makes a mistake. */
    private final class Wrong implements Agreement {
        @Override
        public void begin(LogConnection begins) {
            connection = begins;
            begun.release();
            throw new IllegalStateException("as the test wants it");
        }

        @Override
        public Agreed agree(LogConnection connection, Partition partition, int number) {
            throw new AssertionError("it has not begun");
        }
    }

    private final class Rule implements CommitRule {
        @Override
        public boolean permits(Set<Follower> present) {
            return true;
        }

        @Override
        public Collection<Follower> required(Set<Follower> present) {
            return List.of();
        }

        @Override
        public void present(Follower follower) {
            throw new AssertionError("it has not begun");
        }

        @Override
        public void lost(Follower follower) {
            var lostOne = connection;
            if (told != lostOne) {
                told = lostOne;
                lostInTime = lostOne.isOpen();
                lost.release();
            }
        }

        @Override
        public int inSync(Topics topics) {
            return 0;
        }
    }

    @Test
    void afterWhatIsNotForeseenItIsNotInSyncAndIsTriedAgain() throws Exception {
        var loop = new DefaultEventExecutor();
        try (var broker = LogBroker.start(TransportKind.NIO, new HostAndPort("127.0.0.1", 0), BrokerSettings.in(directory))) {
            var follower = new Follower(TransportKind.NIO, broker.address(), loop, new Patience(Duration.ofSeconds(SECONDS)),
                    new Wrong(), new Rule());
            follower.start();
            for (var i = 0; i < 2; i++) {
                assertTrue(begun.tryAcquire(SECONDS, TimeUnit.SECONDS), "it is not tried");
                assertTrue(lost.tryAcquire(SECONDS, TimeUnit.SECONDS), "nobody is told");
                assertTrue(lostInTime, "it is told of when the connection has been closed");
            }
            assertFalse(follower.hasEnded());
            follower.close();
            assertTrue(follower.hasEnded());
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
