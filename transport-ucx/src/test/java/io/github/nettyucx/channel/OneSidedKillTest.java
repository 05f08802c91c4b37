// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.MemoryPair.Kind;
import io.github.nettyucx.faults.Child;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static io.github.nettyucx.channel.MemoryPair.ALL;
import static io.github.nettyucx.channel.MemoryPair.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The other process is killed (SIGKILL) in the middle of operations on memory. */
class OneSidedKillTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int OPERATIONS = 10_000;
    private static final int TIMES = 2 * Integer.getInteger("io.github.nettyucx.test.scale", 1);
    /** From the end of the process, when the kernel has closed what it had, beside how long the loop has no processor. */
    private static final long BOUND_MILLIS = 1000;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;

    @BeforeEach
    void watch() {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
    }

    @AfterEach
    void nothingIsLeft() {
        leaks.assertNothingLeft();
    }

    /** By a clock that stands while the loop has no processor. A pause between the two is of that kind, and taken off. */
    private static long loopNanos(Starvation loop) {
        long nanos = System.nanoTime();
        return nanos - loop.nanos();
    }

    /** When the process is gone, by the same clock. What this thread waits for between the two is not the loop's, either. */
    private static CompletableFuture<Long> gone(Child process, Starvation loop) {
        return process.gone().thenApply(_ -> {
            long starved = loop.nanos();
            return System.nanoTime() - starved;
        });
    }

    @OnEachLane(linksOnly = true, timeoutSeconds = 180)
    void everyOperationOnAKilledOwnersMemoryIsDoneWithinASecond() throws Exception {
        for (int time = 0; time < TIMES; time++) {
            for (Kind kind : Kind.values()) {
                killOwner(kind);
            }
        }
    }

    private void killOwner(Kind kind) throws Exception {
        try (Peers peers = new Peers(); Starvation starvation = new Starvation();
                Child owner = Child.start(OneSidedMain.class, "owner", kind)) {
            starvation.add(peers.clientGroup);
            byte[] key = HexFormat.of().parseHex(owner.await("key"));
            Inbox inbox = new Inbox();
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(inbox)
                    .connect(Peers.loopback(owner.awaitPort()))).channel();
            UcxRemoteMemory remote = MemoryPair.open(channel, key);
            int killAfter = random.nextInt(1, OPERATIONS / 2);
            AtomicInteger done = new AtomicInteger();
            AtomicInteger failed = new AtomicInteger();
            CompletableFuture<Long> allDone = new CompletableFuture<>();
            CompletableFuture<Long> gone = gone(owner, starvation);
            ByteBuf target = leaks.allocator.directBuffer(50_000);
            UcxCompletion completion = (id, value, cause) -> {
                if (cause != null) {
                    assertInstanceOf(IOException.class, cause);
                    failed.incrementAndGet();
                }
                int number = done.incrementAndGet();
                if (number == killAfter) {
                    owner.kill();
                } else if (number == OPERATIONS) {
                    allDone.complete(loopNanos(starvation));
                }
            };
            Future<?> begun = channel.eventLoop().submit(() -> begin(remote, target, completion));
            Peers.await(begun);
            Eventually.await(TimeUnit.SECONDS.toMillis(MemoryPair.SECONDS), () -> done + " are done, of " + OPERATIONS,
                    () -> done.get() == OPERATIONS && channel.closeFuture().isDone());
            long millis = millis(gone, allDone);
            System.out.println(kind + ": killed after " + killAfter + " operations, " + failed + " failed, all done "
                    + millis + " ms after its end");
            assertTrue(millis < BOUND_MILLIS, () -> millis + " ms");
            assertInstanceOf(IOException.class, Peers.awaitFailure(remote.fetchAndAdd(0, 1)));
            target.release();
        }
    }

    private static long millis(CompletableFuture<Long> from, CompletableFuture<Long> to) throws Exception {
        return TimeUnit.NANOSECONDS.toMillis(to.get(MemoryPair.SECONDS, TimeUnit.SECONDS)
                - from.get(MemoryPair.SECONDS, TimeUnit.SECONDS));
    }

    private void begin(UcxRemoteMemory remote, ByteBuf target, UcxCompletion completion) {
        for (int i = 0; i < OPERATIONS; i++) {
            switch (i % 4) {
                case 0 -> remote.fetchAndAdd(0, 1, completion, i);
                case 1 -> remote.get(8, target, 0, 1 + random.nextInt(50_000), completion, i);
                default -> {
                    int length = random.nextInt(i % 4 == 2 ? 200 : 20_000);
                    remote.put(8, leaks.allocator.directBuffer(Math.max(1, length)).writeZero(length), completion, i);
                }
            }
        }
    }

    @OnEachLane(linksOnly = true, timeoutSeconds = 180)
    void aKilledPeerLosesItsAccessAndHasWrittenNowhereElse() throws Exception {
        for (int time = 0; time < TIMES; time++) {
            for (Kind kind : Kind.values()) {
                killPeer(kind);
            }
        }
    }

    private void killPeer(Kind kind) throws Exception {
        CompletableFuture<Long> inactive = new CompletableFuture<>();
        Starvation starvation = new Starvation();
        MemoryPair.Owner owner = new MemoryPair.Owner() {
            @Override
            public void channelInactive(ChannelHandlerContext context) {
                inactive.complete(loopNanos(starvation));
                super.channelInactive(context);
            }
        };
        try (Peers peers = new Peers(); starvation; UcxMemory memory = kind.allocate(OneSidedMain.SIZE, ALL)) {
            starvation.add(peers.serverGroup);
            UcxServerSocketChannel server = peers.listen(() -> owner);
            String key = HexFormat.of().formatHex(memory.exportKey());
            UcxSocketChannel other = peers.connect(server, new Inbox());
            UcxRemoteMemory remote = MemoryPair.open(other, memory.exportKey());
            long millis;
            long before;
            try (Child peer = Child.start(OneSidedMain.class, "peer", server.localAddress().getPort(), key)) {
                peer.await("ready");
                // To be killed at any point of what it does.
                Thread.sleep(random.nextInt(20));
                before = Peers.await(remote.fetchAndAdd(0, 0)).getNow();
                CompletableFuture<Long> gone = gone(peer, starvation);
                peer.kill();
                millis = millis(gone, inactive);
            }
            System.out.println(kind + ": gone " + millis + " ms after its end, and " + before + " additions");
            assertTrue(millis < BOUND_MILLIS, () -> millis + " ms");
            assertTrue(other.isActive());
            assertTrue(before > 0);
            // Nobody adds any more.
            long after = Peers.await(remote.fetchAndAdd(0, 1)).getNow();
            assertEquals(after + 1, Peers.await(remote.fetchAndAdd(0, 0)).getNow());
            byte[] content = bytes(memory);
            for (int i = 8; i < content.length; i++) {
                boolean put = i >= OneSidedMain.PUT_AT && i < OneSidedMain.PUT_AT + OneSidedMain.PUT_LENGTH;
                int at = i;
                // It has put the same bytes since long; being written again they are what they were.
                assertEquals(put ? 7 : 0, content[i], () -> "byte " + at);
            }
            remote.close();
            // Who is dead is not waited for; but UCX keeps a message of his that has come in part, until its worker goes. Over
            // RDMA a put comes in several parts, and all peers share the worker.
            if (Lane.current() == Lane.RDMA) {
                Peers.await(other.close());
            }
            memory.revoke().get(MemoryPair.SECONDS, TimeUnit.SECONDS);
        }
    }
}
