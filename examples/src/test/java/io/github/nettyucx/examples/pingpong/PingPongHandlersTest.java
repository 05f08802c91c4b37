// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class PingPongHandlersTest {
    @Nested
    class TheServer {
        private final EmbeddedChannel channel = new EmbeddedChannel(new PreambleDecoder());

        @AfterEach
        void finish() {
            channel.finishAndReleaseAll();
        }

        @Test
        void repliesWhenAllOfAMessageIsThere() {
            channel.writeInbound(preamble(5));
            channel.writeInbound(bytes(1, 2));
            channel.writeInbound(bytes(3, 4));
            assertNull(channel.readOutbound());
            channel.writeInbound(bytes(5));
            assertOutbound(1, 2, 3, 4, 5);
        }

        @Test
        void takesAPreambleInPieces() {
            var preamble = preamble(1);
            while (preamble.isReadable()) {
                channel.writeInbound(preamble.readBytes(1));
            }
            preamble.release();
            channel.writeInbound(bytes(7));
            assertOutbound(7);
        }

        @Test
        void takesAMessageTogetherWithThePreamble() {
            channel.writeInbound(Unpooled.wrappedBuffer(preamble(2), bytes(8, 9)));
            assertOutbound(8, 9);
        }

        @Test
        void holdsBackTheBeginningOfTheNextMessage() {
            channel.writeInbound(preamble(2));
            channel.writeInbound(bytes(1, 2, 3));
            assertOutbound(1, 2);
            channel.writeInbound(bytes(4));
            assertOutbound(3, 4);
        }

        @Test
        void hangsUpOnAStranger() {
            channel.writeInbound(Unpooled.copyLong(0x474554202f204854L));
            assertFalse(channel.isOpen());
        }

        private void assertOutbound(int... expected) {
            var all = Unpooled.buffer();
            for (ByteBuf part; (part = channel.readOutbound()) != null; part.release()) {
                all.writeBytes(part);
            }
            assertEquals(bytes(expected), all);
        }
    }

    @Nested
    class TheClient {
        private static final int SIZE = 20;
        private final PingPongClientHandler handler = new PingPongClientHandler(SIZE, 0);
        private final EmbeddedChannel channel = new EmbeddedChannel();

        @BeforeEach
        void connect() {
            channel.config().setAllocator(UnpooledByteBufAllocator.DEFAULT);
            channel.pipeline().addLast(handler);
            channel.pipeline().fireChannelActive();
            ByteBuf preamble = channel.readOutbound();
            assertEquals(SIZE, Preamble.decode(preamble));
            preamble.release();
        }

        @AfterEach
        void finish() {
            channel.finishAndReleaseAll();
        }

        @Test
        void sendsTheNextMessageOnlyAfterTheReply() {
            var histogram = new Histogram(3);
            var run = handler.roundTrips(3, histogram);
            for (var i = 0; i < 3; i++) {
                assertFalse(run.isDone());
                ByteBuf request = nextRequest();
                assertNull(channel.readOutbound());
                channel.writeInbound(request);
            }
            assertTrue(run.isSuccess());
            assertNull(channel.readOutbound());
            assertEquals(3, histogram.getTotalCount());
            assertEquals(3 * SIZE, handler.bytesReceived());
        }

        @Test
        void takesAReplyByteByByte() {
            var run = handler.proveOnce();
            var request = nextRequest();
            while (request.isReadable()) {
                assertFalse(run.isDone());
                channel.writeInbound(request.readBytes(1));
            }
            request.release();
            assertTrue(run.isSuccess());
        }

        @Test
        void doesNotChangeAMessageThatTheTransportStillHolds() {
            handler.roundTrips(2, null);
            var first = nextRequest();
            var content = first.copy();
            channel.writeInbound(first.copy());
            var second = nextRequest();
            assertEquals(content, first);
            assertFalse(first.equals(second));
            first.release();
            second.release();
            content.release();
        }

        @Test
        void failsOnTheReplyToAnotherRequest() {
            var run = handler.roundTrips(2, null);
            var first = nextRequest();
            channel.writeInbound(first.copy());
            nextRequest().release();
            channel.writeInbound(first);
            assertTrue(run.cause().getMessage().contains("reply of round trip 2 differs"), run.cause().toString());
            assertFalse(channel.isOpen());
        }

        @Test
        void failsOnAWrongByteInTheMiddle() {
            var run = handler.proveOnce();
            var request = nextRequest();
            var reply = request.copy();
            request.release();
            reply.setByte(9, reply.getByte(9) + 1);
            channel.writeInbound(reply);
            assertTrue(run.cause().getMessage().contains("at byte 9"), run.cause().toString());
        }

        @Test
        void failsOnAReplyThatIsTooLong() {
            var run = handler.roundTrips(1, null);
            channel.writeInbound(Unpooled.wrappedBuffer(nextRequest(), bytes(1, 2)));
            assertTrue(run.cause().getMessage().contains("2 bytes more"), run.cause().toString());
        }

        @Test
        void failsWhenTheServerLeaves() {
            var run = handler.roundTrips(1, null);
            nextRequest().release();
            channel.close();
            assertTrue(run.cause().getMessage().contains("closed the connection"), run.cause().toString());
        }

        @Test
        void failsWhenTheConnectionIsAlreadyClosed() {
            channel.close();
            var run = handler.roundTrips(1, null);
            channel.runPendingTasks();
            assertTrue(run.cause().getMessage().contains("closed"), run.cause().toString());
        }

        private ByteBuf nextRequest() {
            channel.runPendingTasks();
            return channel.readOutbound();
        }
    }

    private static ByteBuf preamble(int size) {
        return Preamble.encode(UnpooledByteBufAllocator.DEFAULT, size);
    }

    private static ByteBuf bytes(int... values) {
        var buffer = Unpooled.buffer(values.length);
        for (var value : values) {
            buffer.writeByte(value);
        }
        return buffer;
    }
}
