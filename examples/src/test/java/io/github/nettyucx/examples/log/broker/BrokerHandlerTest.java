// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

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
}
