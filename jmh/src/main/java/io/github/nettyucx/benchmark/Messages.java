// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.messaging.Codec;
import io.github.nettyucx.messaging.Exporter;
import io.github.nettyucx.messaging.Importer;
import io.github.nettyucx.messaging.MessageType;
import io.github.nettyucx.messaging.RequestType;

/** What the messaging benchmark's nodes say to each other. One object is read into again and again: one loop handles it. */
final class Messages {
    static final int SERVER = 2;
    static final int CLIENT = 1;
    /** Answered when so many messages have come since the server's start. */
    static final RequestType<Long, Long> AWAIT = new RequestType<>(1, new Number(), new Number());

    final MessageType<byte[]> message;
    final RequestType<byte[], byte[]> call;

    Messages(int size) {
        message = new MessageType<>(2, new Bytes(size));
        call = new RequestType<>(3, new Bytes(size), new Bytes(size));
    }

    private static final class Number implements Codec<Long> {
        @Override
        public int size(Long message) {
            return Long.BYTES;
        }

        @Override
        public void write(Long message, Exporter out) {
            out.putLong(message);
        }

        @Override
        public Long read(Importer in) {
            return in.getLong();
        }
    }

    static final class Bytes implements Codec<byte[]> {
        private final byte[] read;

        Bytes(int size) {
            read = new byte[size];
        }

        @Override
        public int size(byte[] message) {
            return message.length;
        }

        @Override
        public void write(byte[] message, Exporter out) {
            out.putRaw(message, 0, message.length);
        }

        @Override
        public byte[] read(Importer in) {
            in.getRaw(read, 0, read.length);
            return read;
        }
    }
}
