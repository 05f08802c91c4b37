// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerHandlerTest {

    /** Whoever sends many of them would otherwise take the broker's memory. */
    @Test
    void recordsInAMessageThatIsNoRequestAreReleased() {
        var connection = new EmbeddedChannel(new BrokerHandler(null, null));
        var records = Unpooled.buffer().writeLong(1);
        connection.writeInbound(new Message.Fetched(1, 0, records));
        assertEquals(0, records.refCnt());
        Message.Failed refusal = assertInstanceOf(Message.Failed.class, connection.readOutbound());
        assertEquals(ErrorCode.BAD_REQUEST, refusal.code());
    }

    @Test
    void whoTakesNoAnswersGetsNoMoreOfThem() {
        var blocked = new AtomicBoolean(true);
        var connection = new EmbeddedChannel();
        connection.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 100));
        connection.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                if (!blocked.get()) {
                    ctx.flush();
                }
            }
        }, new BrokerHandler(null, null));
        var records = Unpooled.buffer().writeLong(1);
        for (var request = 1; request <= 3; request++) {
            connection.writeInbound(new Message.OpenSlots(request));
        }
        connection.writeInbound(new Message.Fetched(4, 0, records));
        assertFalse(connection.isWritable());
        assertFalse(connection.config().isAutoRead());
        blocked.set(false);
        connection.flush();
        connection.runPendingTasks();
        for (var request = 1; request <= 3; request++) {
            Message.Failed refusal = assertInstanceOf(Message.Failed.class, connection.readOutbound());
            assertEquals(request, refusal.request());
            assertEquals(ErrorCode.UNSUPPORTED, refusal.code());
        }
        assertInstanceOf(Message.Failed.class, connection.readOutbound());
        assertEquals(0, records.refCnt());
        assertTrue(connection.config().isAutoRead());
    }

    @Test
    void whatWasHeldOfAConnectionThatEndsIsReleased(@TempDir Path directory) throws Exception {
        var topics = Topics.open(BrokerSettings.in(directory), new FixedLeader(0), ImmediateEventExecutor.INSTANCE);
        var connection = new EmbeddedChannel();
        connection.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 100));
        connection.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                // Nothing is taken.
            }
        }, new BrokerHandler(topics, null));
        connection.writeInbound(new Message.OpenSlots(1));
        var records = Unpooled.buffer().writeLong(1);
        connection.writeInbound(new Message.Fetched(2, 0, records));
        assertEquals(1, records.refCnt());
        connection.close();
        assertEquals(0, records.refCnt());
        topics.close();
    }
}
