// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PingPongMessageTest {
    private static final long SEQUENCE = 0x0102030405060708L;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 24, 1000})
    void acceptsItself(int size) {
        var message = message(size, 3);
        assertDoesNotThrow(() -> PingPongMessage.checkNumber(message, size, SEQUENCE));
        assertDoesNotThrow(() -> PingPongMessage.checkAll(message, message.copy(), SEQUENCE));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 24, 1000})
    void showsAReplyThatIsStale(int size) {
        var message = message(size, 3);
        assertThrows(ExampleFailure.class, () -> PingPongMessage.checkNumber(message, size, SEQUENCE + 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 16, 17, 100})
    void showsEveryWrongByte(int size) {
        for (var i = 0; i < size; i++) {
            var message = message(size, 3);
            var reply = message.copy();
            reply.setByte(i, reply.getByte(i) ^ 0x40);
            assertThrows(ExampleFailure.class, () -> PingPongMessage.checkAll(reply, message, SEQUENCE));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 1000})
    void differsBetweenConnections(int size) {
        assertNotEquals(message(size, 3), message(size, 4));
    }

    private static ByteBuf message(int size, long connection) {
        var message = Unpooled.buffer(size, size);
        PingPongMessage.fill(message, size, connection);
        PingPongMessage.number(message, size, SEQUENCE);
        return message;
    }
}
