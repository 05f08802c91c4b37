// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.Outbound;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Sends what the application has flushed, as far as the peer's credit and UCX allow.
 * <p>
 * A write's promise succeeds when its buffer is no longer needed: for what is copied into a send buffer that is at
 * once, as with a kernel's socket buffer; for what is sent from where it lies when UCX has completed the send. Until
 * then the write stays in the {@link ChannelOutboundBuffer}, and holds back the promises behind it.
 */
final class ChannelOutput implements Runnable {

    private final UcxSocketChannel channel;
    private final Connection connection;
    private final ProgressEngine engine;
    private final Gathering gathering;
    /** The channel's; Netty takes it from the channel when it closes, and we need it until everything is delivered. */
    private ChannelOutboundBuffer buffer;
    /** Flushed bytes that have been sent, and are still in the buffer because a send before them has not completed. */
    private int unremoved;
    private boolean writing;
    private boolean scheduled;
    /** Whether there is more to send when completions or credit come. */
    private boolean waiting;

    ChannelOutput(UcxSocketChannel channel, Connection connection, ProgressEngine engine) {
        this.channel = channel;
        this.connection = connection;
        this.engine = engine;
        gathering = new Gathering(engine.sendBuffers());
    }

    /** Sends completed, or credit came. */
    void advanced() {
        if (waiting || !connection.outbound().isIdle()) {
            schedule();
        }
    }

    void schedule() {
        if (!scheduled) {
            scheduled = true;
            engine.schedule(this);
        }
    }

    @Override
    public void run() {
        scheduled = false;
        complete();
        channel.continueWriting();
    }

    /** Does the promises of what UCX has completed. */
    void complete() {
        if (buffer == null) {
            // Given up: nobody waits for these, but until they are taken the connection is not idle, nor does its loop
            // rest.
            connection.outbound().completed();
        } else if (!writing) {
            writing = true;
            try {
                removeCompleted(buffer, connection.outbound());
            } finally {
                writing = false;
            }
        }
    }

    /** Takes note of what is to be sent when the connection is open. */
    void defer(ChannelOutboundBuffer in) {
        buffer = in;
    }

    /** Whether everything that was flushed has been sent and its promises are done. */
    boolean isDrained() {
        return buffer == null || buffer.isEmpty();
    }

    /** Goes on with what was flushed before the channel was closed. */
    void writeRest() throws IOException {
        if (buffer != null) {
            write(buffer);
        }
    }

    /** Sends nothing more of what was flushed; the channel is about to fail it. */
    void giveUp() {
        buffer = null;
    }

    /** Fails what is in a closed channel's buffer, flushed or not. */
    static void failAll(ChannelOutboundBuffer in, Throwable cause) {
        if (in.totalPendingWriteBytes() == 0) {
            // Netty has done so; such a buffer must not be touched, as its entries are others' by now.
            return;
        }
        in.addFlush();
        while (!in.isEmpty()) {
            in.remove(cause);
        }
    }

    void write(ChannelOutboundBuffer in) throws IOException {
        buffer = in;
        if (writing) {
            // From a listener of a promise that the loop below has just completed; the loop sees the new messages.
            return;
        }
        writing = true;
        boolean more;
        try {
            more = writeSome(in);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        } finally {
            gathering.clear();
            writing = false;
        }
        waiting = !in.isEmpty();
        connection.settle();
        if (more) {
            schedule();
        }
    }

    /** @return whether the turn's share was used up, and there may be more to send */
    private boolean writeSome(ChannelOutboundBuffer in) throws Exception {
        Outbound outbound = connection.outbound();
        for (int spins = channel.config().getWriteSpinCount(); spins > 0; spins--) {
            removeCompleted(in, outbound);
            if (in.isEmpty()) {
                return false;
            }
            if (!connection.isOpen() || outbound.isFailed()) {
                channel.checkWritable();
                return false;
            }
            int room = outbound.room();
            if (room == 0 || !outbound.isWorthwhile(room) && in.totalPendingWriteBytes() - unremoved > room) {
                outbound.held();
                return false;
            }
            gathering.gather(in, unremoved, room);
            if (gathering.length() > 0) {
                send(in, outbound);
            } else if (unremoved > 0) {
                return false;
            } else if (gathering.region() != null) {
                if (!send(in, outbound, gathering.region(), room)) {
                    return true;
                }
            } else {
                // Nothing but empty buffers.
                removeBytes(in, 0);
            }
        }
        return true;
    }

    private void removeCompleted(ChannelOutboundBuffer in, Outbound outbound) {
        if (!outbound.isIdle()) {
            int completed = outbound.completed();
            if (completed > 0) {
                unremoved -= completed;
                removeBytes(in, completed);
            }
        }
    }

    /**
     * As {@link ChannelOutboundBuffer#removeBytes} does it, but the buffer may have fewer bytes than that: Netty fails
     * what is in it when a listener of one of these promises closes the channel, or when a write throws.
     */
    private static void removeBytes(ChannelOutboundBuffer in, int bytes) {
        int left = bytes;
        while (in.current() instanceof ByteBuf message) {
            int readable = message.readableBytes();
            if (readable > left) {
                if (left > 0) {
                    message.readerIndex(message.readerIndex() + left);
                    in.progress(left);
                }
                return;
            }
            if (left > 0) {
                in.progress(readable);
                left -= readable;
            }
            in.remove();
        }
    }

    private void send(ChannelOutboundBuffer in, Outbound outbound) {
        int length = gathering.length();
        ByteBuf single = gathering.single();
        if (single == null) {
            sendCopy(outbound, gathering.takeMerged(), length, unremoved == 0 ? 0 : length);
            if (outbound.isFailed()) {
                return;
            }
            connection.traffic().gathered(gathering.buffers());
            if (unremoved == 0) {
                removeBytes(in, length);
            } else {
                unremoved += length;
            }
            return;
        }
        if (outbound.send(gathering.singleAddress(), length, single, length, connection.inbound().takeGrant())) {
            single.retain();
        }
        if (outbound.isFailed()) {
            return;
        }
        if (outbound.isIdle()) {
            removeBytes(in, length);
        } else {
            unremoved += length;
        }
    }

    private void sendCopy(Outbound outbound, SendBuffer copy, int length, int flushed) {
        if (!outbound.send(copy.address(), length, copy, flushed, connection.inbound().takeGrant())) {
            copy.release();
        }
    }

    /** @return whether the file gave anything */
    private boolean send(ChannelOutboundBuffer in, Outbound outbound, FileRegion region, int room)
            throws IOException {
        if (region.transferred() >= region.count()) {
            in.remove();
            return true;
        }
        SendBuffer copy = engine.sendBuffers().acquire();
        int length;
        try {
            region.transferTo(new BufferChannel(copy.memory(), Math.min(room, SendBufferPool.CAPACITY)),
                    region.transferred());
            length = copy.memory().readableBytes();
        } catch (Throwable t) {
            copy.release();
            throw t;
        }
        if (length == 0) {
            copy.release();
            return false;
        }
        sendCopy(outbound, copy, length, 0);
        if (outbound.isFailed()) {
            return true;
        }
        in.progress(length);
        if (region.transferred() >= region.count()) {
            in.remove();
        }
        return true;
    }

    /** Takes bytes of a file until the message is full. */
    private record BufferChannel(ByteBuf target, int limit) implements WritableByteChannel {

        @Override
        public int write(ByteBuffer source) {
            int size = Math.min(source.remaining(), limit - target.writerIndex());
            ByteBuffer part = source.slice(source.position(), size);
            target.writeBytes(part);
            source.position(source.position() + size);
            return size;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // Nothing to close.
        }
    }
}
