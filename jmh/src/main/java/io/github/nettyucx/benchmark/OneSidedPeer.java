// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** What both sides of {@link OneSided} do first: each gives the other a key of memory of its own. */
abstract class OneSidedPeer extends ChannelInboundHandlerAdapter {
    private static final int KEY_LENGTH = 64;

    /** What is put; as long as a message. */
    final ByteBuf source;
    private final UcxMemory memory;
    private final ByteBuf key = Unpooled.buffer(KEY_LENGTH, KEY_LENGTH);

    OneSidedPeer(int size) {
        memory = UcxMemory.allocate(Math.max(size, Long.BYTES), UcxMemoryRight.values());
        source = new UnpooledByteBufAllocator(true, true).directBuffer(size, size).writeZero(size);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.writeAndFlush(Unpooled.wrappedBuffer(memory.exportKey()));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        var bytes = (ByteBuf) message;
        key.writeBytes(bytes);
        bytes.release();
        if (!key.isWritable()) {
            ((UcxSocketChannel) context.channel()).openMemory(key.array()).addListener(future -> {
                if (future.isSuccess()) {
                    opened((UcxRemoteMemory) future.getNow());
                } else {
                    failed(future.cause());
                }
            });
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof UcxMemoryNotification) {
            notified();
        }
    }

    abstract void opened(UcxRemoteMemory remote);

    abstract void notified();

    abstract void failed(Throwable cause);

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        failed(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        memory.close();
        source.release();
    }
}
