// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.channel.embedded.EmbeddedChannel;

import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** A lane with an application on it that does what the test says. */
final class LaneEnd implements LaneListener {

    static final int SPINS = 16;

    private static final ByteBufAllocator MEMORY = UnpooledByteBufAllocator.DEFAULT;

    final KernelSocket socket;
    final SocketLane lane;
    final Traffic traffic;
    /** Of a channel that has nothing else to do with the lane. */
    final ChannelOutboundBuffer out;
    final ByteArrayOutputStream input = new ByteArrayOutputStream();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    int inputNews;
    int outputNews;
    int acknowledged;
    int losses;
    IOException lost;
    /** Runs within each call of the listener. */
    Runnable reaction = () -> { };

    LaneEnd(KernelSocket socket, SocketLane lane, Traffic traffic) {
        this.socket = socket;
        this.traffic = traffic;
        this.lane = lane;
        out = channel.unsafe().outboundBuffer();
    }

    @Override
    public void inputReady() {
        inputNews++;
        reaction.run();
    }

    @Override
    public void outputReady() {
        outputNews++;
        reaction.run();
    }

    @Override
    public void endAcknowledged() {
        acknowledged++;
        reaction.run();
    }

    @Override
    public void lost(IOException cause) {
        losses++;
        lost = cause;
        reaction.run();
    }

    // ------------------------------------------------------------------------------------------- output

    /** Adds to what is flushed, without sending it. */
    ChannelPromise add(Object message) {
        ChannelPromise promise = channel.newPromise();
        long size = message instanceof ByteBuf buffer ? buffer.readableBytes()
                : message instanceof FileRegion ? 0 : 1;
        out.addMessage(message, (int) size, promise);
        out.addFlush();
        return promise;
    }

    ChannelPromise addUnflushed(ByteBuf message) {
        ChannelPromise promise = channel.newPromise();
        out.addMessage(message, message.readableBytes(), promise);
        return promise;
    }

    Written write() throws Exception {
        return write(SPINS);
    }

    Written write(int spins) throws Exception {
        return lane.write(out, spins);
    }

    // ------------------------------------------------------------------------------------------- input

    /** @return how many bytes the next read gave */
    int read(int limit) {
        ByteBuf buffer = lane.read(limit, MEMORY::directBuffer);
        if (buffer == null) {
            return 0;
        }
        try {
            int length = buffer.readableBytes();
            buffer.readBytes(input, length);
            return length;
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            buffer.release();
        }
    }

    /** Reads as long as there is something. */
    void readAll(int limit) {
        while (lane.isReadable()) {
            read(limit);
        }
    }

    byte[] bytes() {
        return input.toByteArray();
    }

    void close() {
        lane.close(false);
        out.addFlush();
        while (!out.isEmpty()) {
            out.remove(new IOException("the test is over"));
        }
        channel.close();
    }
}
