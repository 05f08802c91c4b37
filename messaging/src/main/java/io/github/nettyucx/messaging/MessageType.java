// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.Objects;

/**
 * A kind of message. Both nodes have to give it the same number and codec.
 *
 * @param number   1 to 65535; messages and requests share the numbers
 * @param codec    writes and reads it
 * @param dispatch where the receiver handles it
 * @param <T>      the class of the messages
 */
public record MessageType<T>(int number, Codec<T> codec, Dispatch dispatch) {

    /** @throws IllegalArgumentException if the number is out of range */
    public MessageType {
        checkNumber(number);
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(dispatch, "dispatch");
    }

    /** Handled on the event loop. */
    public MessageType(int number, Codec<T> codec) {
        this(number, codec, Dispatch.LOOP);
    }

    static void checkNumber(int number) {
        if (number < 1 || number > 0xFFFF) {
            throw new IllegalArgumentException("number of a message type: " + number + " (expected: 1 to 65535)");
        }
    }
}
