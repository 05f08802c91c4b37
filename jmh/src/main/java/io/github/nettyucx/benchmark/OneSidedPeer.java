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
import java.util.Arrays;

/** What both sides of {@link OneSided} do first: each gives the other a key of memory of its own. */
abstract class OneSidedPeer extends ChannelInboundHandlerAdapter {
    /** Of {@link #source}; the memory is zero at first. */
    static final byte FILLING = 1;
    private static final int KEY_LENGTH = 64;

    /** What is put; as long as a message. */
    final ByteBuf source;
    private final OneSided.Plan plan;
    final UcxMemory memory;
    private final ByteBuf key = Unpooled.buffer(KEY_LENGTH, KEY_LENGTH);
    /** {@code null} as long as the peer's key is not open. */
    private OneSidedOperations operations;

    OneSidedPeer(OneSided.Plan plan) {
        this.plan = plan;
        var size = plan.scenario().size();
        memory = UcxMemory.allocate(Math.max(size, Long.BYTES), UcxMemoryRight.values());
        var bytes = new byte[size];
        Arrays.fill(bytes, FILLING);
        source = new UnpooledByteBufAllocator(true, true).directBuffer(size, size).writeBytes(bytes);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.writeAndFlush(Unpooled.wrappedBuffer(memory.exportKey()));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        var bytes = (ByteBuf) message;
        try {
            if (key.isWritable()) {
                key.writeBytes(bytes, Math.min(bytes.readableBytes(), key.writableBytes()));
                if (!key.isWritable()) {
                    open((UcxSocketChannel) context.channel());
                }
            }
            if (bytes.isReadable()) {
                received(context, bytes.readableBytes());
            }
        } finally {
            bytes.release();
        }
    }

    private void open(UcxSocketChannel channel) {
        channel.openMemory(key.array()).addListener(future -> {
            if (future.isSuccess()) {
                operations = new OneSidedOperations(plan, channel, (UcxRemoteMemory) future.getNow(), source);
                opened(operations);
            } else {
                failed(future.cause());
            }
        });
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof UcxMemoryNotification notification) {
            notified(notification.value());
        }
    }

    abstract void opened(OneSidedOperations ready);

    abstract void notified(long value);

    /** Bytes of the stream, behind the key. */
    abstract void received(ChannelHandlerContext context, int bytes);

    abstract void failed(Throwable cause);

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        failed(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        memory.close();
        source.release();
        if (operations != null) {
            operations.close();
        }
    }
}
