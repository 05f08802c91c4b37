// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;

import java.io.IOException;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the application of a {@link LinkEnd} writes and reads: bytes that follow from the channel and their position. */
final class LinkStream {

    private static final int SPINS = 4;
    private static final int SMALL = 300;
    private static final int LARGE = 12_000;
    private static final int PATIENCE = 40;

    private final LinkWorld world;
    private final LoopMemory memory;
    private final int channelId;
    private final LinkLane lane;
    /** Made when it is needed. */
    private ChannelOutboundBuffer out;
    private EmbeddedChannel channel;
    private int written;
    private int read;
    /** So long the application does not read. */
    private int patience;
    private boolean discarding;
    private boolean broken;
    private boolean finishing;

    LinkStream(LinkWorld world, LoopMemory memory, int channelId, LinkLane lane) {
        this.world = world;
        this.memory = memory;
        this.channelId = channelId;
        this.lane = lane;
        patience = world.oneIn(3) ? world.random.nextInt(PATIENCE) : 0;
        lane.wanted(patience == 0);
    }

    private static byte[] bytesAt(int channelId, int position, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            int at = position + i;
            bytes[i] = LinkFiles.byteAt(channelId, at);
        }
        return bytes;
    }

    // ------------------------------------------------------------------------------------------- output

    void write() {
        if (broken || finishing) {
            return;
        }
        if (out == null) {
            channel = new EmbeddedChannel();
            out = channel.unsafe().outboundBuffer();
        }
        // What is alone is sent from where it lies.
        for (int i = world.oneIn(2) ? 1 : 1 + world.random.nextInt(3); i > 0; i--) {
            if (world.oneIn(40)) {
                int length = 1 + world.random.nextInt(LARGE);
                out.addMessage(LinkFiles.region(channelId, written, length), 0, channel.newPromise());
                written += length;
            } else {
                int length = 1 + world.random.nextInt(world.oneIn(12) ? LARGE : SMALL);
                ByteBuf bytes = memory.allocate(length).writeBytes(bytesAt(channelId, written, length));
                written += length;
                out.addMessage(bytes, length, channel.newPromise());
            }
            out.addFlush();
        }
        flush();
    }

    /** As a channel does it when it is told that it can. */
    void flush() {
        if (out == null) {
            return;
        }
        lane.complete(out);
        if (broken) {
            return;
        }
        try {
            Written how;
            do {
                how = lane.write(out, SPINS);
            } while (how == Written.AGAIN);
        } catch (IOException e) {
            // It is lost, or is about to be.
            fail(e);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        finishIfDrained();
    }

    private void fail(Exception cause) {
        broken = true;
        while (!out.isEmpty()) {
            out.remove(cause);
        }
    }

    /** Ends the stream when everything has been sent. */
    void finish() {
        finishing = true;
        finishIfDrained();
    }

    private void finishIfDrained() {
        if (finishing && !broken && (out == null || out.isEmpty())) {
            lane.finish(false);
        }
    }

    // ------------------------------------------------------------------------------------------- input

    void read(LinkStream peer) {
        if (patience > 0) {
            return;
        }
        while (lane.isReadable()) {
            ByteBuf bytes = lane.read(1 + world.random.nextInt(LARGE), memory::allocate);
            if (bytes == null) {
                break;
            }
            byte[] got = new byte[bytes.readableBytes()];
            bytes.readBytes(got).release();
            assertTrue(read + got.length <= peer.written, "more bytes than were written");
            assertArrayEquals(bytesAt(peer.channelId, read, got.length), got, "other bytes than were written");
            read += got.length;
        }
        if (lane.isAtEnd() && !discarding) {
            assertEquals(peer.written, read, "bytes got lost before the end of the stream");
        }
        lane.settle();
    }

    /** It becomes less patient. @return whether it was not reading */
    boolean waits(LinkStream peer) {
        if (patience == 0) {
            return false;
        }
        if (--patience == 0) {
            lane.wanted(true);
            if (world.oneIn(8)) {
                discarding = true;
                lane.discardInput();
            } else {
                read(peer);
            }
        }
        return true;
    }

    /** Nothing has happened to it, and nothing more happens. */
    void assertRead(LinkStream peer) {
        if (!discarding) {
            assertEquals(peer.written, read, "bytes that never come");
        }
        assertTrue(out == null || out.isEmpty(), "writes that are never done");
    }

    // ------------------------------------------------------------------------------------------- the end

    /** After its lane has been closed. */
    void close() {
        if (out != null) {
            fail(new IOException("closed"));
        }
    }
}
