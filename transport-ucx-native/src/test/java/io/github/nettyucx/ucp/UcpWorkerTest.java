// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ucx-matrix")
class UcpWorkerTest {

    @Test
    void aWorkerHasTheAttributesThatItWasGiven() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.AM);
                UcpWorker worker = context.createWorker(new UcpWorkerParams()
                        .threadMode(UcsThreadMode.SERIALIZED).name("a worker").clientId(1)
                        .events(UcpWakeupEvent.RX, UcpWakeupEvent.TX))) {
            assertEquals("a worker", worker.name());
            assertTrue(worker.maxActiveMessageHeader() > 0);
            assertArrayEquals(worker.queryAddress(), worker.queryAddress());
            assertNotEquals(UcsThreadMode.MULTI, worker.threadMode());
        }
    }

    @Test
    void aWorkerForSeveralThreadsAtATimeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new UcpWorkerParams().threadMode(UcsThreadMode.MULTI));
    }

    @Test
    void aSignalFromAnotherThreadWakesAnArmedWorker() throws Exception {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.TAG, UcpFeature.WAKEUP);
                UcpWorker worker = context.createWorker(new UcpWorkerParams())) {
            EventFd.arm(worker);
            assertEquals(0, EventFd.poll(worker, 0), "nothing has happened yet");
            Thread signaller = Thread.ofPlatform().start(worker::signal);
            assertEquals(1, EventFd.poll(worker, EventFd.WAIT_MILLIS));
            signaller.join();
            EventFd.arm(worker);
            worker.signal();
            assertEquals(UcsStatus.ERR_BUSY, worker.arm(), "a signal counts as something to progress");
        }
    }

    @Test
    void aMessageWakesAnArmedWorker() throws Throwable {
        for (Lanes lanes : Lanes.values()) {
            try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.TAG, UcpFeature.WAKEUP);
                    Arena arena = Arena.ofConfined()) {
                long param = UcpRequestParam.allocate(arena);
                MemorySegment buffer = arena.allocate(16);
                long receive = UcpTag.receiveNbx(pair.serverWorker.address(), buffer.address(), 16, 1, -1L, param);
                EventFd.arm(pair.serverWorker);
                UcsStatus.check("sending", new Loop(pair.clientWorker).status("sending",
                        UcpTag.sendNbx(pair.client.address(), buffer.address(), 16, 1, param)));
                assertEquals(1, EventFd.poll(pair.serverWorker, EventFd.WAIT_MILLIS));
                assertEquals(UcsStatus.OK, new Loop(pair.serverWorker).status("receiving", receive));
            }
        }
    }

    @Test
    void withoutTheWakeupFeatureThereIsNoFileDescriptor() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.TAG);
                UcpWorker worker = context.createWorker(new UcpWorkerParams())) {
            assertEquals(0, worker.progress());
            assertThrows(UcxException.class, worker::eventFd);
        }
    }

    @Test
    void aWorkerCanBeClosedTwiceButNotUsedAfterwards() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.TAG)) {
            UcpWorker worker = context.createWorker(new UcpWorkerParams());
            worker.close();
            worker.close();
            assertTrue(worker.isClosed());
            assertThrows(IllegalStateException.class, worker::address);
            assertThrows(IllegalStateException.class, worker::signal);
            assertThrows(IllegalStateException.class, worker::queryAddress);
            assertThrows(IllegalStateException.class, () -> worker.listen(ConnectedPair.loopback(0), r -> { }));
            assertThrows(IllegalStateException.class,
                    () -> worker.connect(ConnectedPair.loopback(1), null, false, null));
        }
    }

    @Test
    void closingAWorkerClosesItsEndpointsAndListeners() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG)) {
            pair.serverWorker.close();
            assertTrue(pair.server.isClosed());
            assertThrows(IllegalStateException.class, pair.listener::localAddress);
            new Loop(pair.clientWorker).until("the client's error", () -> !pair.clientErrors.isEmpty());
            pair.clientWorker.close();
            assertTrue(pair.client.isClosed());
        }
    }

    @Test
    void aContextWithOpenWorkersOrMemoryCannotBeClosed() throws UcxException {
        UcpContext context = Lanes.TCP.context(UcpFeature.RMA);
        UcpWorker worker = context.createWorker(new UcpWorkerParams());
        UcpMemory memory = context.allocate(64);
        assertThrows(IllegalStateException.class, context::close);
        worker.close();
        assertThrows(IllegalStateException.class, context::close);
        memory.close();
        context.close();
        context.close();
        assertTrue(context.isClosed());
        assertThrows(IllegalStateException.class, () -> context.createWorker(new UcpWorkerParams()));
    }
}
