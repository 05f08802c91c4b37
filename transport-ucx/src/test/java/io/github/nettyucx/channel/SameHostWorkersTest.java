// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A loop has a UCX worker for each process of its host that it is connected with, and no more. */
class SameHostWorkersTest {

    private static final long SECONDS = 15;

    @ParameterizedTest
    @EnumSource
    void unusedWorkersAreGivenBackInEveryStrategy(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            Channel server = peers.listen(Inbox::new);
            Channel client = peers.connect(server, new Inbox());
            assertEquals(1, workers(peers.clientGroup));
            assertEquals(1, workers(peers.serverGroup));
            Peers.await(client.close());
            awaitWorkers(peers.clientGroup, 0);
            awaitWorkers(peers.serverGroup, 0);
        }
    }

    @Test
    void connectionsThatComeAndGoShareTheWorkerOfThoseThatStay() throws Exception {
        try (Peers peers = new Peers()) {
            Inbox[] child = new Inbox[1];
            Channel server = peers.listen(() -> child[0] = new Inbox());
            peers.connect(server, new Inbox());
            for (int i = 0; i < 20; i++) {
                // One of them stays for longer each time.
                peers.connect(server, new Inbox());
                Channel guest = peers.connect(server, new Inbox());
                Channel host = child[0].awaitActive();
                Peers.await(i % 2 == 0 ? guest.close() : host.close());
                Peers.await(i % 2 == 0 ? host.closeFuture() : guest.closeFuture());
            }
            assertEquals(1, workers(peers.clientGroup));
            assertEquals(1, workers(peers.serverGroup));
        }
    }

    @Test
    void connectsThatAreRefusedLeaveTheWorkerToTheOthers() throws Exception {
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(Inbox::new);
            peers.connect(server, new Inbox());
            Peers.await(server.close());
            for (int i = 0; i < 10; i++) {
                Peers.awaitFailure(peers.client(new Inbox()).connect(server.localAddress()));
            }
            assertEquals(1, workers(peers.clientGroup));
        }
    }

    /** A server, and a client, on one loop: each of the two roles has its links in an order of its own. */
    @Test
    void aLoopThatIsConnectedWithItselfHasAWorkerForEachEnd() throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        try (Peers peers = new Peers(group, group)) {
            Channel server = peers.listen(Inbox::new);
            peers.connect(server, new Inbox());
            peers.connect(server, new Inbox());
            assertEquals(2, workers(group));
        }
    }

    private static void awaitWorkers(EventLoopGroup group, int most) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (int workers = workers(group); workers > most; workers = workers(group)) {
            int left = workers;
            assertTrue(System.nanoTime() - deadline < 0, () -> "the loop has " + left + " workers, not " + most);
        }
    }

    /** Asks the loop, after a time in which it may sleep. */
    private static int workers(EventLoopGroup group) throws Exception {
        EventLoop loop = TestLoops.first(group);
        return loop.schedule(() -> TestLoops.driver(loop).engine().workerCount(), 20, TimeUnit.MILLISECONDS).get();
    }
}
