// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.wire.TrafficCounter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What becomes of writes: which calls they take, how far they go, and when their promises are done. */
class SocketOutputTest {

    private static final int MIB = 1024 * 1024;
    private static final int SMALL_BUFFER = 8 * 1024;

    private LanePair pair;
    private LaneEnd end;
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private int seed;

    private void connect(int buffers) throws IOException {
        pair = new LanePair(buffers, buffers);
        end = pair.farLane();
    }

    @AfterEach
    void disconnect() throws IOException {
        pair.close();
    }

    private byte[] next(int length) {
        byte[] bytes = Raw.bytes(length, seed++);
        expected.writeBytes(bytes);
        return bytes;
    }

    private ByteBuf message(int length) {
        return Unpooled.directBuffer(length).writeBytes(next(length));
    }

    private ByteBuf heap(int length) {
        return Unpooled.buffer(length).writeBytes(next(length));
    }

    private long calls() {
        return end.traffic.sent().sum();
    }

    private void awaitExpected() throws IOException {
        pair.await("all bytes", () -> {
            Raw.receive(pair.near, received);
            return received.size() >= expected.size();
        });
        assertArrayEquals(expected.toByteArray(), received.toByteArray());
    }

    /** Goes on whenever the lane says that there is room, until everything is sent. */
    private void writeAll() throws IOException {
        pair.await("the last byte to be sent", () -> {
            try {
                int before = end.outputNews;
                Written written = end.write();
                while (written == Written.AGAIN) {
                    written = end.write();
                }
                if (written == Written.DRAINED) {
                    return true;
                }
                pair.await("room", () -> {
                    Raw.receive(pair.near, received);
                    return end.outputNews > before;
                });
                return false;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void aMessageIsDoneWhenTheKernelHasIt() throws Exception {
        connect(0);
        ByteBuf message = message(100);
        ChannelPromise promise = end.add(message);
        assertEquals(Written.DRAINED, end.write());
        assertTrue(promise.isSuccess());
        assertEquals(0, message.refCnt());
        assertEquals(1, calls());
        assertEquals(100, end.traffic.get(TrafficCounter.BYTES_SENT));
        awaitExpected();
    }

    @Test
    void nothingToSendIsDrained() throws Exception {
        connect(0);
        assertEquals(Written.DRAINED, end.write());
        assertEquals(0, calls());
    }

    @Test
    void emptyAndCancelledMessagesAreDoneWithoutACall() throws Exception {
        connect(0);
        ChannelPromise empty = end.add(Unpooled.directBuffer());
        ChannelPromise cancelled = end.addUnflushed(Unpooled.directBuffer().writeZero(5));
        cancelled.cancel(false);
        ChannelPromise last = end.add(Unpooled.EMPTY_BUFFER);
        assertEquals(Written.DRAINED, end.write());
        assertTrue(empty.isSuccess());
        assertTrue(cancelled.isCancelled());
        assertTrue(last.isSuccess());
        assertEquals(0, calls());
    }

    @Test
    void aCancelledMessageAmongOthersIsNotSent() throws Exception {
        connect(0);
        end.add(message(10));
        end.addUnflushed(Unpooled.directBuffer().writeZero(5)).cancel(false);
        ChannelPromise last = end.add(message(20));
        assertEquals(Written.DRAINED, end.write());
        assertTrue(last.isSuccess());
        awaitExpected();
    }

    @Test
    void manyMessagesTakeOneCall() throws Exception {
        connect(0);
        end.add(message(10));
        end.add(message(200));
        end.add(message(20_000));
        end.add(heap(30));
        end.add(Unpooled.compositeBuffer().addComponents(true, message(9000), message(40)));
        assertEquals(Written.DRAINED, end.write());
        assertEquals(1, calls());
        assertEquals(1, end.traffic.get(TrafficCounter.MESSAGES_GATHERED));
        awaitExpected();
    }

    @Test
    void whatTheKernelDoesNotTakeWaits() throws Exception {
        connect(SMALL_BUFFER);
        List<ChannelPromise> promises = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            promises.add(end.add(message(1000)));
        }
        assertEquals(Written.WAITING, end.write());
        long taken = end.traffic.get(TrafficCounter.BYTES_SENT);
        assertTrue(taken > 0 && taken < 300_000, "taken: " + taken);
        for (int i = 0; i < promises.size(); i++) {
            assertEquals((i + 1) * 1000L <= taken, promises.get(i).isDone(), "promise " + i);
        }
        // Nothing is tried before the kernel has said that there is room.
        long calls = calls();
        assertEquals(Written.WAITING, end.write());
        assertEquals(calls, calls());
        writeAll();
        awaitExpected();
        assertTrue(promises.getLast().isSuccess());
    }

    @Test
    void aLargeMessageGoesInParts() throws Exception {
        connect(SMALL_BUFFER);
        ByteBuf message = message(5 * MIB + 1);
        ChannelPromise promise = end.add(message);
        assertEquals(Written.WAITING, end.write());
        assertFalse(promise.isDone());
        assertEquals(1, message.refCnt());
        writeAll();
        assertTrue(promise.isSuccess());
        assertEquals(0, message.refCnt());
        awaitExpected();
    }

    @Test
    void partsOfACompositeGoOnWhereTheyEnded() throws Exception {
        connect(SMALL_BUFFER);
        for (int i = 0; i < 20; i++) {
            end.add(Unpooled.compositeBuffer().addComponents(true, message(3), message(30_000),
                    heap(5000), message(8192), message(1)));
        }
        writeAll();
        awaitExpected();
    }

    @Test
    void aTurnHasItsShare() throws Exception {
        connect(0);
        // Each is a call of its own: what is small and not contiguous fills the buffer for copies.
        for (int i = 0; i < 3; i++) {
            end.add(heap(64 * 1024));
        }
        assertEquals(Written.AGAIN, end.write(1));
        assertEquals(1, calls());
        assertEquals(Written.AGAIN, end.write(1));
        assertEquals(Written.DRAINED, end.write(1));
        assertEquals(3, calls());
        awaitExpected();
    }

    @Test
    void aPromisesListenerMayWriteMore() throws Exception {
        connect(0);
        ByteBuf second = Unpooled.directBuffer().writeBytes("second".getBytes());
        List<Written> inner = new ArrayList<>();
        end.add(message(10)).addListener((ChannelFutureListener) done -> {
            end.add(second);
            inner.add(end.write());
        });
        assertEquals(Written.DRAINED, end.write());
        // The write that is under way sends it.
        assertEquals(List.of(Written.WAITING), inner);
        assertEquals(0, second.refCnt());
        expected.writeBytes("second".getBytes());
        awaitExpected();
    }

    @Test
    void aPromisesListenerMayCloseTheLane() throws Exception {
        connect(0);
        ByteBuf second = Unpooled.buffer().writeZero(100_000);
        end.add(message(10)).addListener((ChannelFutureListener) done -> end.lane.close(false));
        ChannelPromise last = end.add(second);
        assertEquals(Written.WAITING, end.write());
        assertFalse(last.isDone());
        assertEquals(65_536 - 10, second.readerIndex(), "what the first call took");
    }

    /** As Netty does it when the channel is closed from such a listener. */
    @Test
    void aPromisesListenerMayFailTheRest() throws Exception {
        connect(0);
        end.add(message(10)).addListener((ChannelFutureListener) done -> {
            while (!end.out.isEmpty()) {
                end.out.remove(new IOException("closed"));
            }
        });
        ChannelPromise second = end.add(message(20));
        assertEquals(Written.DRAINED, end.write());
        assertTrue(second.isDone());
    }

    @Test
    void whatThePeerTakesMoves() throws Exception {
        connect(SMALL_BUFFER);
        end.add(message(MIB));
        assertEquals(Written.WAITING, end.write());
        pair.settle();
        long before = end.lane.moved();
        assertTrue(before < end.traffic.get(TrafficCounter.BYTES_SENT), "the kernel still has some");
        pair.await("the peer to take some", () -> {
            Raw.receive(pair.near, received);
            return end.lane.moved() > before;
        });
        writeAll();
        awaitExpected();
        pair.await("the last one", () -> end.lane.moved() == MIB);
    }

    @Test
    void aClosedLaneSendsNothing() throws Exception {
        connect(0);
        end.lane.close(false);
        ChannelPromise promise = end.add(Unpooled.directBuffer().writeZero(10));
        assertEquals(Written.WAITING, end.write());
        assertFalse(promise.isDone());
        assertEquals(0, calls());
    }
}
