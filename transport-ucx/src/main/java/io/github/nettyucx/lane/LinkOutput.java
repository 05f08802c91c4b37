// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.Outbound;
import io.github.nettyucx.worker.PipePool;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;

import java.io.IOException;

/**
 * Sends what the application has flushed over a link, as far as the peer's credit and UCX allow.
 * <p>
 * A write's promise succeeds when its buffer is no longer needed: for what is copied into a send buffer that is at
 * once, as with a kernel's socket buffer; for what is sent from where it lies when UCX has completed the send. Until
 * then the write stays in the {@link ChannelOutboundBuffer}, and holds back the promises behind it.
 */
final class LinkOutput extends FlushedOutput {

    /** Up to this size, in bytes, Java reads what is left of a file by one call: through a pipe it would be two. */
    private static final int SMALL_FILE = 8 * 1024;

    private final Connection connection;
    private final SendBufferPool sendBuffers;
    private final Gathering gathering;
    private final FlushedBytes flushedBytes = new FlushedBytes();
    /** What has been taken of a file and not been sent: in one of the two. */
    private final FilePipe file;
    private final RegionCopy copy;
    /** Flushed bytes that have been sent, and are still in the buffer because a send before them has not completed. */
    private int unremoved;

    LinkOutput(Connection connection, SendBufferPool sendBuffers, PipePool pipes) {
        this.connection = connection;
        this.sendBuffers = sendBuffers;
        file = new FilePipe(pipes);
        copy = new RegionCopy(sendBuffers);
        gathering = new Gathering(sendBuffers);
    }

    /** Does the promises of what UCX has completed. */
    void complete(ChannelOutboundBuffer in) {
        if (in == null) {
            // Given up: nobody waits for these, but until they are taken the connection is not idle, nor does its loop
            // rest.
            connection.outbound().completed();
        } else if (!writing) {
            writing = true;
            try {
                removeCompleted(in, connection.outbound());
            } finally {
                writing = false;
            }
        }
    }

    @Override
    void forgetGathered() {
        gathering.clear();
    }

    /** @throws IOException if nothing can be sent any more */
    Written write(ChannelOutboundBuffer in, int spins) throws Exception {
        if (writing) {
            // From a listener of a promise that the loop below has just completed; the loop sees the new messages.
            return Written.WAITING;
        }
        writing = true;
        Written written;
        try {
            written = writeSome(in, spins);
        } finally {
            gathering.clear();
            writing = false;
        }
        connection.settle();
        return written == Written.WAITING && in.isEmpty() ? Written.DRAINED : written;
    }

    private Written writeSome(ChannelOutboundBuffer in, int spinCount) throws Exception {
        Outbound outbound = connection.outbound();
        for (int spins = spinCount; spins > 0; spins--) {
            removeCompleted(in, outbound);
            if (unremoved == 0) {
                // Empty buffers need no room. And the progress of a file behind them would be taken for theirs.
                remove(in, 0);
            }
            if (in.isEmpty()) {
                return Written.DRAINED;
            }
            if (!connection.isOpen() || outbound.isFailed()) {
                throw outbound.problem();
            }
            int room = outbound.room();
            long covered = (long) unremoved + room - file.left() - copy.left();
            if (room == 0 || !outbound.isWorthwhile(room) && flushedBytes.isMoreThan(covered, in)) {
                outbound.held();
                return Written.WAITING;
            }
            gathering.gather(in, unremoved, room);
            if (gathering.length() > 0) {
                send(in, outbound);
            } else if (unremoved > 0) {
                return Written.WAITING;
            } else if (gathering.region() != null) {
                if (!send(in, outbound, gathering.region(), room)) {
                    return Written.AGAIN;
                }
            }
        }
        return Written.AGAIN;
    }

    /** Looks no further than it has to. */
    private static final class FlushedBytes implements ChannelOutboundBuffer.MessageProcessor {

        private long left;

        /** Whether more than so many bytes have been flushed, those of files included. */
        boolean isMoreThan(long bytes, ChannelOutboundBuffer in) throws Exception {
            left = bytes;
            in.forEachFlushedMessage(this);
            return left < 0;
        }

        @Override
        public boolean processMessage(Object message) {
            left -= message instanceof ByteBuf buffer ? buffer.readableBytes()
                    : ((FileRegion) message).count() - ((FileRegion) message).transferred();
            return left >= 0;
        }
    }

    private void removeCompleted(ChannelOutboundBuffer in, Outbound outbound) {
        if (!outbound.isIdle()) {
            int completed = outbound.completed();
            if (completed > 0) {
                unremoved -= completed;
                remove(in, completed);
            }
        }
    }

    private void send(ChannelOutboundBuffer in, Outbound outbound) {
        int length = gathering.length();
        ByteBuf single = gathering.single();
        if (single == null) {
            SendBuffer merged = gathering.takeMerged();
            sendCopy(outbound, merged, merged.address(), length, unremoved == 0 ? 0 : length);
            if (outbound.isFailed()) {
                return;
            }
            connection.traffic().gathered(gathering.buffers());
            if (unremoved == 0) {
                remove(in, length);
            } else {
                unremoved += length;
            }
            return;
        }
        if (outbound.send(gathering.singleAddress(), length, single, length, connection.inbound().takeGrantForData())) {
            single.retain();
        }
        if (outbound.isFailed()) {
            return;
        }
        if (outbound.isIdle()) {
            remove(in, length);
        } else {
            unremoved += length;
        }
    }

    /** @param owner of the memory, of which a reference is taken over */
    private void sendCopy(Outbound outbound, SendBuffer owner, long address, int length, int flushed) {
        if (!outbound.send(address, length, owner, flushed, connection.inbound().takeGrantForData())) {
            owner.release();
        }
    }

    /** @return whether the file gave anything */
    private boolean send(ChannelOutboundBuffer in, Outbound outbound, FileRegion region, int room)
            throws IOException {
        file.keepOnly(region);
        copy.keepOnly(region);
        if (isFileSent()) {
            if (region.transferred() >= region.count()) {
                in.remove();
                return true;
            }
            if (!take(region, room)) {
                return false;
            }
        }
        int length = file.isEmpty() ? sendCopied(outbound, Math.min(room, copy.left()))
                : sendPiped(outbound, Math.min(room, SendBufferPool.CAPACITY));
        if (outbound.isFailed()) {
            return true;
        }
        boolean last = isFileSent() && region.transferred() >= region.count();
        in.progress(length);
        // A listener of the progress may have closed the channel.
        if (last && in.current() == region) {
            in.remove();
        }
        return true;
    }

    private boolean isFileSent() {
        return file.isEmpty() && copy.isEmpty();
    }

    /**
     * Takes bytes of a file. No more than can be sent have to be copied of one that counts them. A region of the application's
     * may write a whole buffer, as it could to a kernel's socket: there are some that know their length only roughly when a
     * write of theirs is cut short, and would be done too early.
     *
     * @return whether there were any
     */
    private boolean take(FileRegion region, int room) throws IOException {
        if (region.count() - region.transferred() > SMALL_FILE && file.fill(region)) {
            return true;
        }
        boolean counts = region.getClass() == DefaultFileRegion.class;
        return copy.fill(region, counts ? Math.min(room, SendBufferPool.CAPACITY) : SendBufferPool.CAPACITY);
    }

    private int sendPiped(Outbound outbound, int limit) throws IOException {
        SendBuffer piece = sendBuffers.acquire();
        int length;
        try {
            length = piece.append(file.pipe(), Math.min(limit, file.left()));
        } catch (Throwable t) {
            piece.release();
            throw t;
        }
        file.took(length);
        sendCopy(outbound, piece, piece.address(), length, 0);
        return length;
    }

    private int sendCopied(Outbound outbound, int length) {
        SendBuffer buffer = copy.buffer();
        long address = copy.address();
        buffer.retain();
        copy.took(length);
        sendCopy(outbound, buffer, address, length, 0);
        return length;
    }

    /** Gives back what has been taken from a file and not been sent. */
    void release() {
        file.discard();
        copy.discard();
    }
}
