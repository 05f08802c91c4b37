// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Endpoints that were made from worker addresses. */
@Tag("ucx-matrix")
class LinkTest {

    private static final int ROUNDS = 200;
    private static final int WARM_UP = 20;
    private static final int WAKE_UPS = 50;
    private static final int EAGER = 100;
    private static final int LARGE = 60_000;

    @ParameterizedTest
    @EnumSource
    void aLinkIsMadeAndClosedAndMadeAgain(Links links) throws Exception {
        try (LinkedPair pair = new LinkedPair(links, true, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            MemorySegment sent = Bytes.random(arena, LARGE);
            MemorySegment received = arena.allocate(LARGE);
            long descriptors = 0;
            for (int round = 0; round < ROUNDS; round++) {
                pair.link();
                for (int size : new int[] {EAGER, LARGE}) {
                    received.fill((byte) 0);
                    pair.pass(pair.toOther, pair.other, sent, received, size);
                    assertEquals(-1, sent.asSlice(0, size).mismatch(received.asSlice(0, size)));
                    received.fill((byte) 0);
                    pair.pass(pair.toOne, pair.one, sent, received, size);
                    assertEquals(-1, sent.asSlice(0, size).mismatch(received.asSlice(0, size)));
                }
                assertEquals(Set.of(links.transport()), transports(pair.toOther));
                assertEquals(Set.of(links.transport()), transports(pair.toOne));
                assertEquals(List.of(), pair.errors, "round " + round);
                pair.unlink();
                if (round == WARM_UP) {
                    descriptors = descriptors();
                }
            }
            assertEquals(List.of(), pair.errors);
            long left = descriptors() - descriptors;
            assertTrue(left <= 2, () -> left + " descriptors left after " + (ROUNDS - WARM_UP) + " rounds");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageWakesAParkedWorker(Links links) throws Exception {
        SynchronousQueue<Integer> parked = new SynchronousQueue<>();
        try (ExecutorService receiver = Executors.newSingleThreadExecutor();
                UcpContext context = links.context(true, UcpFeature.TAG, UcpFeature.WAKEUP);
                UcpWorker sending = context.createWorker(new UcpWorkerParams());
                Arena arena = Arena.ofShared()) {
            UcpWorker receiving = receiver.submit(() -> context.createWorker(new UcpWorkerParams())).get();
            byte[] address = receiver.submit(receiving::queryAddress).get();
            MemorySegment sent = Bytes.random(arena, LARGE);
            Future<?> received = receiver.submit(() -> {
                try {
                    receive(receiving, parked, arena.allocate(LARGE), sent);
                    return null;
                } finally {
                    receiving.close();
                }
            });
            UcpEndpoint endpoint = sending.connect(address, (e, status) -> { });
            Loop loop = new Loop(sending);
            long param = UcpRequestParam.allocate(arena);
            for (int i = 0; i < WAKE_UPS; i++) {
                Integer round = parked.poll(EventFd.WAIT_MILLIS, TimeUnit.MILLISECONDS);
                if (round == null) {
                    received.get(0, TimeUnit.SECONDS);
                }
                assertEquals(i, round);
                loop.complete("sending", UcpTag.sendNbx(endpoint.address(), sent.address(), size(i), i, param));
            }
            loop.until("the last message", received::isDone);
            received.get();
            assertEquals(UcsStatus.OK, loop.status("closing", endpoint.closeNbx(true)));
        }
    }

    /** Takes messages, and sleeps before each. */
    private static void receive(UcpWorker worker, SynchronousQueue<Integer> parked, MemorySegment buffer,
            MemorySegment expected) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            long info = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES).address();
            long param = UcpRequestParam.allocate(arena);
            for (int i = 0; i < WAKE_UPS; i++) {
                EventFd.arm(worker);
                // The sender has nothing under way: it waits for this.
                assertTrue(parked.offer(i, EventFd.WAIT_MILLIS, TimeUnit.MILLISECONDS));
                long message;
                while ((message = UcpTag.probeNb(worker.address(), 0, 0, true, info)) == 0) {
                    park(worker);
                }
                long request = UcpTag.messageReceiveNbx(worker.address(), buffer.address(), size(i), message, param);
                while (UcsStatus.isRequest(request) && UcpRequest.checkStatus(request) == UcsStatus.INPROGRESS) {
                    park(worker);
                }
                UcsStatus.check("receiving", new Loop(worker).status("receiving", request));
                assertEquals(i, UcpTag.infoTag(info));
                assertEquals(-1, expected.asSlice(0, size(i)).mismatch(buffer.asSlice(0, size(i))));
            }
        }
    }

    /** Returns when something has been progressed; whatever happens must wake the worker. */
    private static void park(UcpWorker worker) throws UcxException {
        if (worker.progress() != 0) {
            return;
        }
        int status = worker.arm();
        if (status == UcsStatus.OK) {
            assertEquals(1, EventFd.poll(worker, EventFd.WAIT_MILLIS), "nothing has woken the worker");
        } else {
            assertEquals(UcsStatus.ERR_BUSY, status);
        }
        worker.progress();
    }

    private static int size(int round) {
        return round % 2 == 0 ? EAGER : LARGE;
    }

    @ParameterizedTest
    @EnumSource
    void aWorkerIsLinkedToItself(Links links) throws UcxException {
        try (LinkedPair pair = new LinkedPair(links, true, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            MemorySegment sent = Bytes.random(arena, LARGE);
            MemorySegment received = arena.allocate(LARGE);
            UcpEndpoint toItself = pair.one.connect(pair.one.queryAddress(),
                    (endpoint, status) -> pair.errors.add(UcsStatus.name(status)));
            for (int size : new int[] {EAGER, LARGE}) {
                received.fill((byte) 0);
                pair.pass(toItself, pair.one, sent, received, size);
                assertEquals(-1, sent.asSlice(0, size).mismatch(received.asSlice(0, size)));
            }
            assertEquals(UcsStatus.OK, pair.loop.status("closing", toItself.closeNbx(true)));
            assertEquals(List.of(), pair.errors);
        }
    }

    /** What the other side says of itself may be out of date when it is used. */
    @ParameterizedTest
    @EnumSource(names = {"SYSV", "POSIX"})
    void aWorkerThatHasGoneCannotBeLinkedTo(Links links) throws UcxException {
        try (UcpContext context = links.context(true, UcpFeature.TAG);
                UcpWorker worker = context.createWorker(new UcpWorkerParams())) {
            UcpWorker gone = context.createWorker(new UcpWorkerParams());
            byte[] address = gone.queryAddress();
            gone.close();
            assertThrows(UcxException.class, () -> worker.connect(address, (endpoint, status) -> { }));
            // And the worker goes on.
            UcpEndpoint endpoint = worker.connect(worker.queryAddress(), (e, status) -> { });
            assertEquals(UcsStatus.OK, new Loop(worker).status("closing", endpoint.closeNbx(true)));
        }
    }

    private static Set<String> transports(UcpEndpoint endpoint) throws UcxException {
        return endpoint.transports().stream().map(UcpEndpoint.Transport::name).collect(Collectors.toSet());
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }
}
