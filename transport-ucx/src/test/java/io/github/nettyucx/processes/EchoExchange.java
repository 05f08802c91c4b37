// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.SeededBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A client's handler: says bytes that follow from a seed, and compares what an echo server makes of them. */
final class EchoExchange extends ChannelInboundHandlerAdapter {

    /** More than fits into buffers on the way, in pieces that go by different protocols of UCX. */
    private static final int[] PIECES = {1, 100, 5_000, 64 * 1024, 200_000, 7};
    private static final long SECONDS = 20;

    private final SeededBytes bytes;
    private final CompletableFuture<Integer> compared = new CompletableFuture<>();
    private int position;

    EchoExchange(long seed) {
        bytes = new SeededBytes(seed);
    }

    /** Waits for the end of it. @return how many bytes came back as they were sent */
    int await() throws Exception {
        return compared.get(SECONDS, TimeUnit.SECONDS);
    }

    private static int total() {
        return Arrays.stream(PIECES).sum();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        int said = 0;
        for (int piece : PIECES) {
            context.writeAndFlush(Unpooled.wrappedBuffer(bytes.at(said, piece)));
            said += piece;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        byte[] heard = new byte[in.readableBytes()];
        in.readBytes(heard).release();
        if (!Arrays.equals(heard, bytes.at(position, heard.length))) {
            compared.completeExceptionally(new AssertionError("other bytes than were sent, after " + position));
        }
        position += heard.length;
        if (position == total()) {
            compared.complete(position);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        compared.completeExceptionally(new AssertionError("the connection ended after " + position + " bytes"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        compared.completeExceptionally(cause);
    }

    /** The server's handler. */
    static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
