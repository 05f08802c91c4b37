// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Limits;
import io.github.nettyucx.wire.Tag;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the application does in the middle of a turn, and what a turn looks at. Without a network. */
class MemoryTurnTest extends MemoryFixture {

    private static final int MANY = 10_000;

    private final UcxMemory second = UcxMemory.allocateChecked(LENGTH, UcxMemoryRight.values());

    /** As a peer. @return the handle */
    private int open(UcxMemory region) {
        deliverOpen(region.exportKey());
        handle = ByteBuffer.wrap(port.sent.getLast().bytes()).getInt(4);
        return handle;
    }

    /** @param putting whether the last use of the memory is a put, or else a get */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aChannelThatIsClosedWhenItsMemoryIsGoneIsClosedInTheMiddleOfATurn(boolean putting) {
        start();
        int first = open(memory);
        int last = open(second);
        port.deferringSends = true;
        for (int used : new int[] {first, last, first}) {
            handle = used;
            deliver(putting ? MemoryFrame.PUT : MemoryFrame.GET, 0, 1000);
            if (putting) {
                port.deferring = true;
                port.deliver(Tag.MEMORY_PUT, 1, new byte[1000]);
                port.deferring = false;
            }
        }
        CompletableFuture<Void> left = second.revoke().thenRun(connection::leave);
        assertFalse(left.isDone());
        port.completeAll();
        port.turn();
        assertTrue(left.isDone());
        assertNull(failure);
        assertEquals(1, memory.memory().refCnt());
    }

    @Test
    void aNotificationIsToldOnceWhenTheFirstOneClosesTheChannel() {
        start();
        handle = open(memory);
        for (int i = 1; i <= 3; i++) {
            byte[] notifying = request(MemoryFrame.PUT, 0, 0, i, 0, 0);
            notifying[1] = MemoryFrame.NOTIFYING;
            port.deliver(Tag.MEMORY_REQUEST, i, notifying);
        }
        List<Long> told = new ArrayList<>();
        exchange.deliver(notification -> {
            told.add(notification.value());
            // As a channel does that is closed.
            exchange.deliver(other -> told.add(other.value()));
        });
        assertEquals(List.of(1L, 2L, 3L), told);
    }

    @Test
    void nothingIsAskedForIntoABufferThatHasBeenReleased() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = Unpooled.directBuffer(8);
        target.release();
        port.sent.clear();
        assertThrows(IllegalReferenceCountException.class, () -> remote.get(0, target, 0, 8, null, 0));
        assertEquals(List.of(), port.sent);
        List<Throwable> causes = new ArrayList<>();
        remote.flush((id, value, cause) -> causes.add(cause), 0);
        assertEquals(Collections.singletonList(null), causes, "something is under way");
    }

    /** @param direct whether UCX can receive into the target, or else a buffer between is copied to it */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGetWhoseTargetIsReleasedMeanwhileFailsAndIsNotWaitedFor(boolean direct) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = direct ? Unpooled.directBuffer(8) : Unpooled.buffer(8);
        // Once too often.
        assertFailsAlone(remote, target, () -> target.release(2), IllegalReferenceCountException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGetWhoseTargetIsMadeSmallerMeanwhileFailsAndIsNotWaitedFor(boolean direct) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = direct ? Unpooled.directBuffer(8) : Unpooled.buffer(8);
        assertFailsAlone(remote, target.setZero(0, 8), () -> target.capacity(4), IndexOutOfBoundsException.class);
        assertEquals(1, target.refCnt());
        assertEquals(0, target.getInt(0), "a part of the bytes is there");
        target.release();
    }

    @Test
    void aGetIntoACompositeWhoseOnlyPieceIsReleasedMeanwhileFailsAndIsNotWaitedFor() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf piece = Unpooled.directBuffer(8);
        ByteBuf target = Unpooled.compositeBuffer().addComponent(true, piece.writeZero(8));
        assertFailsAlone(remote, target, piece::release, IllegalReferenceCountException.class);
        assertThrows(IllegalReferenceCountException.class, target::release);
    }

    /** @param mistake made with the target when the get is under way */
    private void assertFailsAlone(UcxRemoteMemory remote, ByteBuf target, Runnable mistake,
                                  Class<? extends Throwable> expected) {
        List<Throwable> causes = new ArrayList<>();
        remote.get(0, target, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        mistake.run();
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), "8 bytes.".getBytes(StandardCharsets.US_ASCII));
        List<Throwable> flushed = new ArrayList<>();
        remote.flush((id, value, cause) -> flushed.add(cause), 0);
        exchange.deliver(notifications::add);
        assertEquals(1, causes.size());
        assertInstanceOf(expected, causes.getFirst());
        assertEquals(Collections.singletonList(null), flushed);
        assertNull(failure);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 1000})
    void nothingIsSentOfABufferThatHasBeenReleased(int length) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf source = Unpooled.directBuffer(length).writeZero(length);
        source.release();
        port.sent.clear();
        assertThrows(IllegalReferenceCountException.class, () -> remote.put(0, source, null, 0));
        assertEquals(List.of(), port.sent);
        List<Throwable> causes = new ArrayList<>();
        remote.flush((id, value, cause) -> causes.add(cause), 0);
        assertEquals(Collections.singletonList(null), causes, "something is under way");
    }

    /** What a put's source is, and how its bytes go. */
    private enum Source {
        INLINE(8, false), DIRECT(1000, false), COPIED(1000, false), ATTACHED(8, false), ATTACHED_NOTIFYING(8, true);

        private final int length;
        private final boolean notifying;

        Source(int length, boolean notifying) {
            this.length = length;
            this.notifying = notifying;
        }

        ByteBuf make(Runnable gone) {
            return this == COPIED ? new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, length, length) {
                @Override
                protected void deallocate() {
                    super.deallocate();
                    gone.run();
                }
            } : new UnpooledDirectByteBuf(UnpooledByteBufAllocator.DEFAULT, length, length) {
                @Override
                protected void deallocate() {
                    super.deallocate();
                    gone.run();
                }
            };
        }

        boolean isAttached() {
            return this == ATTACHED || this == ATTACHED_NOTIFYING;
        }
    }

    /** The application's own buffer can do so when nobody needs it any more. */
    @ParameterizedTest
    @EnumSource(Source.class)
    void aPutIsToldOnceWhenTheEndOfItsSourceClosesTheChannel(Source source) {
        start();
        UcxRemoteMemory remote = source.isAttached() ? attached() : openAsAsker();
        ByteBuf bytes = source.make(connection::close).writeZero(source.length);
        List<String> told = new ArrayList<>();
        UcxCompletion completion = (id, value, cause) -> told.add(id + (cause == null ? ": done" : ": failed"));
        if (source.notifying) {
            remote.putAndNotify(0, bytes, 1, completion, 1);
        } else {
            remote.put(0, bytes, completion, 1);
        }
        assertEquals(0, bytes.refCnt());
        assertFalse(connection.isOpen());
        remote.flush(completion, 2);
        exchange.deliver(notifications::add);
        assertEquals(List.of(source.isAttached() ? "1: done" : "1: failed", "2: failed"), told);
        if (source.notifying) {
            assertEquals(MemoryFrame.NOTIFY, port.sent.getLast().bytes()[0], "the owner is not told");
        }
    }

    @Test
    void aNotificationThatUcxHasNotTakenFailsWhenTheEndOfItsSourceClosesTheChannel() {
        start();
        UcxRemoteMemory remote = attached();
        port.deferringSends = true;
        List<Throwable> causes = new ArrayList<>();
        remote.putAndNotify(0, Source.ATTACHED.make(connection::close).writeZero(8), 1,
                (id, value, cause) -> causes.add(cause), 1);
        exchange.deliver(notifications::add);
        assertEquals(1, causes.size());
        assertInstanceOf(ClosedChannelException.class, causes.getFirst());
    }

    @Test
    void aRevocationThatOvertakesTheAnswerToItsOpeningIsNotLost() {
        start();
        List<Promise<UcxRemoteMemory>> opened = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            Promise<UcxRemoteMemory> promise = ImmediateEventExecutor.INSTANCE.newPromise();
            opened.add(promise);
            exchange.access().open(memory.exportKey(), ImmediateEventExecutor.INSTANCE, promise);
            port.deferring = true;
            port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(),
                    ByteBuffer.allocate(24).put(1, (byte) 7).putInt(4, i).putLong(8, LENGTH).array());
            port.deferring = false;
        }
        port.deliver(Tag.MEMORY_REVOKED, 1);
        port.sent.clear();
        port.completeAll();
        port.turn();
        exchange.deliver(notifications::add);
        assertEquals(UcxMemoryException.Reason.REVOKED, ((UcxMemoryException) opened.getFirst().cause()).reason());
        assertTrue(opened.getLast().isSuccess());
        // The owner waits for that.
        assertEquals(1, port.sent.size());
        assertEquals(MemoryFrame.CLOSE, port.sent.getFirst().bytes()[0]);
        assertEquals(1, ByteBuffer.wrap(port.sent.getFirst().bytes()).getInt(4));
    }

    @Test
    void whatIsBegunAfterTheLoopsEndFailsAndGivesItsBuffersBack() {
        start();
        EventExecutor ended = new DefaultEventExecutor();
        ended.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        ended.terminationFuture().syncUninterruptibly();
        UcxRemoteMemory remote = new UcxRemoteMemory(exchange.access(), ended, 3, LENGTH, UcxMemoryRight.ALL_BITS, null);
        ByteBuf buffer = Unpooled.directBuffer(8).writeLong(1);
        List<Future<?>> futures = List.of(
                remote.put(0, buffer.retainedSlice()),
                remote.putAndNotify(0, buffer.retainedSlice(), 1),
                remote.get(0, buffer, 8),
                remote.fetchAndAdd(0, 1),
                remote.compareAndSwap(0, 1, 1),
                remote.flush(),
                remote.batch().put(0, buffer.retainedSlice()).putAndNotify(0, buffer.retainedSlice(), 1)
                        .get(0, buffer, 0, 8).submit());
        for (Future<?> future : futures) {
            assertInstanceOf(RejectedExecutionException.class, future.cause());
        }
        assertEquals(1, buffer.refCnt());
        buffer.release();
        remote.close();
    }

    @Test
    void aBatchWithATargetThatHasBeenReleasedFails() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = Unpooled.directBuffer(8);
        UcxMemoryBatch batch = remote.batch().get(0, target, 0, 8);
        target.release();
        assertInstanceOf(IllegalReferenceCountException.class, batch.submit().cause());
    }

    /** Of each kind of operation there are thousands in flight. */
    @Test
    void aTurnAsksForAFewOfTheOldestOnly() {
        start();
        handle = open(memory);
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = Unpooled.directBuffer(8, 8);
        List<Throwable> causes = new ArrayList<>();
        port.sent.clear();
        port.deferringSends = true;
        for (int i = 0; i < MANY; i++) {
            remote.get(0, target, 0, 8, (id, value, cause) -> causes.add(cause), 0);
            deliver(MemoryFrame.GET, 0, 8);
        }
        List<FakePort.Sent> asked = port.sent.stream().filter(sent -> sent.type() == Tag.MEMORY_REQUEST).toList();
        port.deferring = true;
        for (int i = 0; i < MANY; i++) {
            port.deliver(Tag.MEMORY_GET, asked.get(i).value(), new byte[8]);
            deliver(MemoryFrame.GET, 0, 8);
        }
        int before = port.asked;
        port.turn();
        assertTrue(port.asked - before <= 32, () -> (port.asked - before) + " in one turn");
        port.completeAll();
        port.turn();
        exchange.deliver(notifications::add);
        assertEquals(MANY, causes.size());
        assertTrue(causes.stream().allMatch(Objects::isNull));
        port.completeAll();
        port.turn();
        assertFalse(port.isTracked());
        target.release();
    }

    /** UCX may complete them in another order. */
    @Test
    void whatHasCompletedBehindAFewThatHaveNotIsFoundInTheEnd() {
        start();
        handle = open(memory);
        port.deferringSends = true;
        for (int i = 0; i < 100; i++) {
            deliver(MemoryFrame.GET, 0, 8);
        }
        int references = memory.memory().refCnt();
        port.completeLast(97);
        port.turn();
        assertEquals(references - 97, memory.memory().refCnt());
        port.completeAll();
        port.turn();
        assertEquals(1, memory.memory().refCnt());
    }

    @Test
    void theApplicationLearnsThatItsMemoryIsGoneInATaskOfItsOwn() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        connection.open(PEER, Limits.MIN_WINDOW, Limits.MIN_WINDOW);
        exchange.start(tasks::add);
        open(second);
        port.deferringSends = true;
        deliver(MemoryFrame.GET, 0, 1000);
        CompletableFuture<Void> gone = second.revoke();
        tasks.poll().run();
        port.completeAll();
        port.turn();
        assertFalse(gone.isDone());
        tasks.poll().run();
        assertTrue(gone.isDone());
        assertTrue(second.revoke().isDone());
    }
}
