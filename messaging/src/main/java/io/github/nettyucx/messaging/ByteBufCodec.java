// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;

/**
 * Messages that are bytes. The sender's buffer and its indexes stay as they are, and it may be used again at once. The
 * handler gets the buffer that the bytes were received into; it is released when the handler returns, so who needs it
 * longer has to retain it.
 */
public final class ByteBufCodec implements Codec<ByteBuf> {

    public static final ByteBufCodec INSTANCE = new ByteBufCodec();

    private ByteBufCodec() {
    }

    @Override
    public int size(ByteBuf message) {
        return message.readableBytes();
    }

    @Override
    public void write(ByteBuf message, Exporter out) {
        out.putBuffer(message);
    }

    @Override
    public ByteBuf read(Importer in) {
        return in.getBuffer(in.remaining());
    }

    @Override
    public void release(ByteBuf message) {
        message.release();
    }
}
