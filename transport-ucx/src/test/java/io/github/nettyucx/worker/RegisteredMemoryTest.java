// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Memory that is registered once serves as send buffers, and as buffers to receive into, and goes in the end. */
class RegisteredMemoryTest {

    private static final long SEED = 20261123;
    private static final int LENGTH = 50_000;
    private static final int ID = 7;
    private static final int ROUNDS = 20_000;

    private final Counters<WorkerCounter> counters = new Counters<>(WorkerCounter.class);
    private final long directBefore = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();

    @AfterEach
    void nothingIsLeft() {
        assertEquals(counters.get(WorkerCounter.MEMORY_REGISTERED), counters.get(WorkerCounter.MEMORY_UNREGISTERED));
        assertEquals(counters.get(WorkerCounter.SEND_BUFFERS_ALLOCATED),
                counters.get(WorkerCounter.SEND_BUFFERS_RELEASED));
        assertEquals(directBefore, UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(), "memory left behind");
    }

    private RegisteredMemory newMemory() {
        return new RegisteredMemory(LinkKind.SHM, counters);
    }

    private long registered() {
        return counters.get(WorkerCounter.MEMORY_REGISTERED);
    }

    private long stillRegistered() {
        return registered() - counters.get(WorkerCounter.MEMORY_UNREGISTERED);
    }

    // ------------------------------------------------------------------------------------------- links

    @ParameterizedTest
    @EnumSource(value = LinkKind.class, names = {"SHM", "TCP"})
    void operationsOfLinksAreGivenTheRegistrationOfTheirMemory(LinkKind kind) throws IOException {
        ProgressEngine engine = new ProgressEngine("test", counters, Registration.ALWAYS);
        Worker near = engine.worker(kind, false, null);
        Worker far = engine.worker(kind, true, null);
        Link there = near.connect(far.address());
        Link back = far.connect(near.address());
        SendBuffer sent = engine.sendBuffers(kind).acquire();
        byte[] bytes = new byte[LENGTH];
        new SplittableRandom(SEED).nextBytes(bytes);
        sent.memory().writeBytes(bytes);
        ByteBuf received = engine.sendBuffers(kind).registered().receiveBuffer(LENGTH);
        assertEquals(2, registered());

        long[] message = new long[1];
        back.register(ID, (tag, handle, length) -> message[0] = handle);
        complete(engine, there, there.send(sent.address(), LENGTH, (long) ID << Integer.SIZE));
        assertEquals(1, counters.get(WorkerCounter.REGISTERED_OPERATIONS), "the send");
        EnginePair.until(() -> message[0] != 0, engine::poll, "the message does not come");
        complete(engine, back, back.receive(message[0], received.memoryAddress(), LENGTH));
        assertEquals(2, counters.get(WorkerCounter.REGISTERED_OPERATIONS), "the receive");
        received.writerIndex(LENGTH);
        assertEquals(sent.memory(), received);

        ByteBuf others = UnpooledByteBufAllocator.DEFAULT.directBuffer(1).writeByte(1);
        message[0] = 0;
        complete(engine, there, there.send(BufferAddress.of(others, 0, 1), 1, (long) ID << Integer.SIZE));
        EnginePair.until(() -> message[0] != 0, engine::poll, "the other message does not come");
        complete(engine, back, back.receive(message[0], BufferAddress.of(others, 0, 1), 1));
        assertEquals(2, counters.get(WorkerCounter.REGISTERED_OPERATIONS), "memory of somebody else's");
        others.release();
        sent.release();
        received.release();
        back.unregister(ID);
        there.close();
        back.close();
        engine.close();
    }

    private static void complete(ProgressEngine engine, Link link, long request) {
        assertTrue(request >= 0, () -> "status " + request);
        if (request > 0) {
            while (link.status(request) == 1) {
                engine.poll();
            }
            assertEquals(0, link.status(request));
            link.free(request);
        }
    }

    @Test
    void linksThatNeedNoneHaveNone() throws IOException {
        ProgressEngine engine = new ProgressEngine("test", counters, Registration.AUTO);
        engine.worker(LinkKind.SHM, false, null);
        assertSame(engine.sendBuffers(), engine.sendBuffers(LinkKind.SHM));
        assertNull(engine.sendBuffers().registered());
        engine.sendBuffers().acquire().release();
        engine.close();
        assertEquals(0, registered());
    }

    /** A peer may have the keys of what was in use when its link failed, and UCX does not take them back. */
    @Test
    void whenALinkFailsOtherMemoryIsUsedFromThenOn() throws IOException {
        ProgressEngine engine = new ProgressEngine("test", counters, Registration.ALWAYS);
        Worker near = engine.worker(LinkKind.SHM, false, null);
        Link link = near.connect(engine.worker(LinkKind.SHM, true, null).address());
        RegisteredMemory memory = engine.sendBuffers(LinkKind.SHM).registered();
        ByteBuf before = memory.receiveBuffer(LENGTH);
        assertEquals(near.param(0, 0), near.param(before.memoryAddress() - 1, LENGTH));
        assertNotEquals(near.param(0, 0), near.param(before.memoryAddress(), LENGTH));

        link.onError(null, -80);
        engine.poll();
        assertEquals(near.param(0, 0), near.param(before.memoryAddress(), LENGTH));
        ByteBuf after = memory.receiveBuffer(LENGTH);
        assertEquals(2, stillRegistered(), "the old memory, of which a buffer is out, and the new");
        before.release();
        memory.collect();
        assertEquals(1, stillRegistered());
        after.release();
        link.close();
        engine.close();
    }

    /** A loop of which all peers have gone, and that has nothing else to do. */
    @Test
    void whatAFailureHasRetiredGoesAlsoWhenThereIsNoWorkerAnyMore() throws IOException {
        try (ProgressEngine engine = new ProgressEngine("test", counters, Registration.ALWAYS)) {
            Worker near = engine.worker(LinkKind.SHM, false, null);
            Link link = near.connect(engine.worker(LinkKind.SHM, true, null).address());
            ByteBuf buffer = engine.sendBuffers(LinkKind.SHM).registered().receiveBuffer(LENGTH);
            link.onError(null, -80);
            engine.poll();
            link.close();
            EnginePair.until(() -> engine.workerCount() == 0, engine::poll, "workers that nobody uses stay");
            assertEquals(1, stillRegistered());
            buffer.release();
            EnginePair.until(() -> stillRegistered() == 0, () -> turn(engine), "what nobody uses stays registered");
        }
    }

    private void turn(ProgressEngine engine) {
        try {
            engine.poll();
            if (engine.arm() && stillRegistered() != 0) {
                // For ever, if nothing has the loop look after what it has retired.
                engine.await(TimeUnit.SECONDS.toNanos(60));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whereItCannotBeRegisteredOtherMemoryTakesItsPlace() {
        assumeTrue(UcxRuntime.unavailability(LinkKind.RDMA) != null, "this host has an RDMA device");
        RegisteredMemory memory = new RegisteredMemory(LinkKind.RDMA, counters);
        assertNull(memory.receiveBuffer(LENGTH));
        SendBuffer buffer = memory.sendBuffers().acquire();
        assertEquals(SendBufferPool.CAPACITY, buffer.memory().writableBytes());
        assertEquals(1, memory.param(buffer.address(), LENGTH, 1));
        buffer.release();
        assertSame(buffer, memory.sendBuffers().acquire(), "kept for the next use");
        buffer.release();
        memory.close();
        assertEquals(0, registered());
    }

    @Test
    void whatIsTakenAndGivenBackLeavesNothingToTheGarbageCollector() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // What looks for leaks takes notes for each buffer.
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        long perRound;
        try {
            RegisteredMemory memory = newMemory();
            takeAndGiveBack(memory);
            long before = threads.getCurrentThreadAllocatedBytes();
            takeAndGiveBack(memory);
            perRound = (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
            memory.close();
        } finally {
            ResourceLeakDetector.setLevel(level);
        }
        assertEquals(0, perRound, "bytes for each send and receive");
    }

    private static void takeAndGiveBack(RegisteredMemory memory) {
        for (int i = 0; i < ROUNDS; i++) {
            SendBuffer sent = memory.sendBuffers().acquire();
            assertTrue(memory.param(sent.address(), LENGTH, 1) != 1);
            ByteBuf received = memory.receiveBuffer(LENGTH);
            assertTrue(memory.param(received.memoryAddress(), LENGTH, 1) != 1);
            received.writeLong(i).release();
            sent.release();
        }
    }

    // ------------------------------------------------------------------------------------------- send buffers

    @Test
    void sendBuffersAreRegisteredTogetherUpToALimit() {
        RegisteredMemory memory = newMemory();
        List<SendBuffer> buffers = new ArrayList<>();
        SendBuffer next = memory.sendBuffers().acquire();
        while (next.slab() != null) {
            buffers.add(next);
            assertEquals(SendBufferPool.CAPACITY, next.memory().writableBytes());
            assertEquals(next.slab().param(), memory.param(next.address(), SendBufferPool.CAPACITY, 1));
            next = memory.sendBuffers().acquire();
        }
        assertTrue(registered() > 1 && registered() * 2 <= buffers.size(),
                () -> registered() + " registrations of " + buffers.size() + " buffers");
        assertEquals(1, memory.param(next.address(), SendBufferPool.CAPACITY, 1), "beyond the limit");
        next.release();
        memory.close();
        // What is in flight when the loop ends comes back afterwards.
        buffers.forEach(SendBuffer::release);
    }

    // ------------------------------------------------------------------------------------------- receive buffers

    @Test
    void smallMessagesAndThoseLargerThanThePoolAreNotItsBusiness() {
        RegisteredMemory memory = newMemory();
        assertNull(memory.receiveBuffer(ReceivePool.MIN_LENGTH - 1));
        assertNull(memory.receiveBuffer(ReceivePool.SIZE + 1));
        assertEquals(0, registered());
        ByteBuf all = memory.receiveBuffer(ReceivePool.SIZE);
        assertEquals(ReceivePool.SIZE, all.writableBytes());
        assertNull(memory.receiveBuffer(ReceivePool.MIN_LENGTH));
        all.release();
        memory.close();
    }

    /** Of random lengths, released in random order by another thread, filled with what nobody else writes. */
    @Test
    void noTwoBuffersEverShareAByte() throws InterruptedException {
        RegisteredMemory memory = newMemory();
        SplittableRandom random = new SplittableRandom(SEED);
        LinkedBlockingQueue<ByteBuf> released = new LinkedBlockingQueue<>();
        List<Throwable> failures = new ArrayList<>();
        Thread releasing = Thread.ofPlatform().start(() -> releaseAll(released, failures));
        List<ByteBuf> held = new ArrayList<>();
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            ByteBuf buffer = memory.receiveBuffer(random.nextInt(ReceivePool.MIN_LENGTH, 300_000));
            boolean lacking = buffer == null;
            if (lacking) {
                refused++;
            } else {
                assertEquals(1, buffer.refCnt());
                assertFalse(buffer.isReadable());
                // A small part of it, to be quick: its ends.
                int stamp = round;
                buffer.writeInt(stamp).setInt(buffer.capacity() - Integer.BYTES, stamp);
                held.add(buffer);
            }
            if (lacking && !held.isEmpty()) {
                released.add(held.remove(random.nextInt(held.size())));
            }
            // The pool is full: the other thread is waited for, so that most rounds have a buffer.
            while (lacking && !released.isEmpty() && releasing.isAlive()) {
                Thread.yield();
            }
        }
        released.addAll(held);
        ByteBuf end = UnpooledByteBufAllocator.DEFAULT.heapBuffer(Long.BYTES, Long.BYTES);
        released.add(end.writeLong(-1));
        releasing.join();
        assertEquals(List.of(), failures);
        assertTrue(refused > 0 && refused < 19_000, "refused " + refused);
        ByteBuf all = memory.receiveBuffer(ReceivePool.SIZE);
        assertNotNull(all, "everything has come back");
        all.release();
        assertEquals(1, registered());
        memory.close();
    }

    private static void releaseAll(LinkedBlockingQueue<ByteBuf> queue, List<Throwable> failures) {
        try {
            for (ByteBuf buffer = queue.take(); ; buffer = queue.take()) {
                int stamp = buffer.getInt(0);
                if (stamp >= 0) {
                    assertEquals(stamp, buffer.getInt(buffer.capacity() - Integer.BYTES));
                }
                assertTrue(buffer.release());
                if (stamp < 0) {
                    return;
                }
            }
        } catch (Throwable t) {
            failures.add(t);
        }
    }

    @Test
    void aBufferThatOutlivesTheLoopKeepsItsBytes() throws InterruptedException {
        RegisteredMemory memory = newMemory();
        ByteBuf first = memory.receiveBuffer(LENGTH).writeZero(LENGTH);
        ByteBuf second = memory.receiveBuffer(LENGTH).writeBytes(new byte[] {1, 2, 3});
        memory.close();
        assertEquals(0, stillRegistered());
        assertNull(memory.receiveBuffer(LENGTH), "there are no more");
        Thread.ofPlatform().start(first::release).join();
        assertTrue(UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() > directBefore);
        assertEquals(0x0102, second.getShort(0));
        Thread.ofPlatform().start(second::release).join();
        assertThrows(RuntimeException.class, () -> second.getByte(0));
    }

    /** Its bytes are another connection's by then. */
    @Test
    void aBufferThatHasBeenReleasedGivesNoAddress() {
        RegisteredMemory memory = newMemory();
        ByteBuf buffer = memory.receiveBuffer(ReceivePool.PAGE);
        ByteBuf part = buffer.slice(0, 32);
        long address = part.memoryAddress();
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, buffer::memoryAddress);
        assertThrows(IllegalReferenceCountException.class, part::memoryAddress);
        ByteBuf next = memory.receiveBuffer(ReceivePool.PAGE);
        assertEquals(address, next.memoryAddress());
        next.release();
        memory.close();
    }

    /** Its neighbours are other connections' messages. */
    @Test
    void aBufferEndsWithItsPages() {
        RegisteredMemory memory = newMemory();
        int size = 2 * ReceivePool.PAGE;
        ByteBuf buffer = memory.receiveBuffer(ReceivePool.PAGE + 1);
        assertEquals(size, buffer.capacity());
        assertEquals(size, buffer.maxCapacity());
        buffer.setByte(size - 1, 9);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(size));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(size - 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setInt(size - 1, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setZero(size - 1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.nioBuffer(size - 1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.writeZero(size).writeByte(1));
        long address = buffer.memoryAddress();
        buffer.capacity(10);
        assertEquals(10, buffer.writerIndex());
        assertThrows(IllegalArgumentException.class, () -> buffer.capacity(size + 1));
        buffer.capacity(size);
        assertEquals(address, buffer.memoryAddress());
        assertEquals(0, buffer.getByte(0));
        buffer.release();
        assertThrows(RuntimeException.class, () -> buffer.getByte(0));
        memory.close();
    }
}
