// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;

import io.netty.buffer.ByteBuf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Messages that are Protocol Buffers. Needs {@code com.google.protobuf:protobuf-java}, which this module does not bring.
 *
 * @param <T> a generated class
 */
public final class ProtobufCodec<T extends MessageLite> implements Codec<T> {

    private final Parser<T> parser;

    /**
     * @param parser as generated classes have it: {@code Greeting.parser()}
     */
    public ProtobufCodec(Parser<T> parser) {
        this.parser = Objects.requireNonNull(parser, "parser");
    }

    @Override
    public int size(T message) {
        return message.getSerializedSize();
    }

    @Override
    public void write(T message, Exporter out) {
        try {
            CodedOutputStream stream = CodedOutputStream.newInstance(new ExporterStream(out),
                    Math.clamp(message.getSerializedSize(), 1, 4096));
            message.writeTo(stream);
            stream.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public T read(Importer in) {
        ByteBuf buffer = in.getBuffer(in.remaining());
        try {
            return parser.parseFrom(buffer.nioBuffer());
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        } finally {
            buffer.release();
        }
    }

    private static final class ExporterStream extends java.io.OutputStream {

        private final Exporter out;

        ExporterStream(Exporter out) {
            this.out = out;
        }

        @Override
        public void write(int value) {
            out.putByte(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            out.putRaw(bytes, offset, length);
        }
    }
}
