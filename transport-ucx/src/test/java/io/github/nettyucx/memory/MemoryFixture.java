// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.ConnectionListener;
import io.github.nettyucx.wire.Limits;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.Attachment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.AfterEach;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection over a {@link FakePort}, with memory that its peer may open, and as a peer of it. */
abstract class MemoryFixture implements ConnectionListener {

    static final int PEER = 9;
    static final int LENGTH = 4096;

    final FakePort port = new FakePort();
    final Connection connection = new Connection(port, FakePort.CHANNEL_ID, Limits.MIN_WINDOW,
            Limits.MIN_WINDOW, this, Unpooled::directBuffer, Traffic.ofConnection());
    private int ready;
    boolean noMemory;
    private final List<ByteBuf> chunks = new ArrayList<>();
    final MemoryExchange exchange = new MemoryExchange(port, connection, false, () -> ready++,
            new Frames(this::allocate));
    final List<UcxMemoryNotification> notifications = new ArrayList<>();
    final UcxMemory memory = UcxMemory.allocateChecked(LENGTH, UcxMemoryRight.values());
    IOException failure;
    int handle;

    @Override
    public void connectionFailed(IOException cause) {
        failure = cause;
    }

    @Override
    public void inputReady() {
        // Nobody reads.
    }

    @Override
    public void outputReady() {
        // Nobody writes.
    }

    @Override
    public void outputAcknowledged() {
        // Nobody ends.
    }

    @AfterEach
    void everythingIsGivenBack() {
        connection.close();
        port.completeAll();
        port.turn();
        exchange.deliver(notifications::add);
        assertFalse(port.isTracked());
        assertEquals(0, port.unreceived(), "messages were not received");
        assertTrue(chunks.stream().allMatch(chunk -> chunk.refCnt() == 0), "memory of frames is not given back");
        memory.revoke();
        assertTrue(memory.memory().gone().isDone(), "somebody still uses the memory");
    }

    ByteBuf allocate(int bytes) {
        if (noMemory) {
            throw new OutOfMemoryError("as the test wants it");
        }
        ByteBuf chunk = Unpooled.directBuffer(bytes, bytes);
        chunks.add(chunk);
        return chunk;
    }

    void start() {
        connection.open(PEER, Limits.MIN_WINDOW, Limits.MIN_WINDOW);
        exchange.start(Runnable::run);
    }

    /** As a peer that opens the memory. */
    void openAsPeer(UcxMemoryRight... rights) {
        deliverOpen(memory.exportKey(rights));
        FakePort.Sent answer = port.sent.getLast();
        assertEquals(Tag.MEMORY_ANSWER, answer.type());
        assertEquals(0, answer.bytes()[0]);
        handle = ByteBuffer.wrap(answer.bytes()).getInt(4);
        port.sent.clear();
    }

    void deliverOpen(byte[] key) {
        port.deliver(Tag.MEMORY_REQUEST, 77, ByteBuffer.allocate(72).put(0, (byte) MemoryFrame.OPEN).put(8, key).array());
    }

    byte[] request(int kind, long offset, long length, long value, long update, int inlined) {
        return ByteBuffer.allocate(40 + inlined).put(0, (byte) kind).putInt(4, handle).putLong(8, offset)
                .putLong(16, length).putLong(24, value).putLong(32, update).array();
    }

    void deliver(int kind, long offset, long length) {
        port.deliver(Tag.MEMORY_REQUEST, 1, request(kind, offset, length, 0, 0, 0));
    }

    UcxRemoteMemory openAsAsker() {
        Promise<UcxRemoteMemory> promise = ImmediateEventExecutor.INSTANCE.newPromise();
        exchange.access().open(memory.exportKey(), ImmediateEventExecutor.INSTANCE, promise);
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(),
                ByteBuffer.allocate(24).put(1, (byte) 7).putInt(4, 3).putLong(8, LENGTH).array());
        exchange.deliver(notifications::add);
        return promise.getNow();
    }

    /** As one that this process has attached: the bytes are there at once, and only the news has to go to the owner. */
    UcxRemoteMemory attached() {
        return new UcxRemoteMemory(exchange.access(), ImmediateEventExecutor.INSTANCE, 3, LENGTH,
                UcxMemoryRight.ALL_BITS, new Attachment(null, memory.segment().address()));
    }

    /** Gets, additions, and such as are refused: answers with a frame and without. */
    void deliverRequests(int count) {
        for (int i = 0; i < count; i++) {
            deliver(i % 3 == 0 ? MemoryFrame.ADD : MemoryFrame.GET, 0, i % 3 == 1 ? LENGTH + 1 : 8);
        }
    }
}
