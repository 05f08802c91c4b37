// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message.Fetch;
import io.github.nettyucx.examples.log.protocol.Message.Fetched;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads a partition for those who ask by message, and lets them wait for what is not there yet. */
final class Fetches {
    private static final class Waiting {
        private final Peer peer;
        private final Fetch fetch;
        private Future<?> timeout;

        Waiting(Peer peer, Fetch fetch) {
            this.peer = peer;
            this.fetch = fetch;
        }
    }

    /** So many of one connection wait at most, and others are answered at once: each takes as much memory as it asks for. */
    static final int MOST_WAITING = 16;

    private final PartitionLog log;
    private final Watermark watermark;
    private final EventExecutor loop;
    private final List<Waiting> waiting = new ArrayList<>();

    Fetches(PartitionLog log, Watermark watermark, EventExecutor loop) {
        this.log = log;
        this.watermark = watermark;
        this.loop = loop;
    }

    void fetch(Peer peer, Fetch fetch) {
        if (fetch.offset() == watermark.committed() && fetch.waitMillis() > 0
                && waiting.stream().filter(one -> one.peer == peer).limit(MOST_WAITING).count() < MOST_WAITING) {
            var one = new Waiting(peer, fetch);
            waiting.add(one);
            one.timeout = loop.schedule(() -> {
                waiting.remove(one);
                answer(peer, fetch);
            }, fetch.waitMillis(), TimeUnit.MILLISECONDS);
        } else {
            answer(peer, fetch);
        }
    }

    /** There is more to read. */
    void committed() {
        if (waiting.isEmpty()) {
            return;
        }
        var all = List.copyOf(waiting);
        waiting.clear();
        for (var one : all) {
            one.timeout.cancel(false);
            fetch(one.peer, one.fetch);
        }
    }

    void forget(Peer peer) {
        waiting.removeIf(one -> one.peer == peer && one.timeout.cancel(false));
    }

    private void answer(Peer peer, Fetch fetch) {
        try {
            var segment = log.find(fetch.offset());
            var end = watermark.committed();
            if (fetch.offset() > end) {
                throw new LogException("record " + fetch.offset() + " is not committed yet: " + end + " is the next");
            }
            peer.send(new Fetched(fetch.request(), end, read(segment, fetch.offset(), watermark.committedSize(segment),
                    fetch.maxBytes())));
        } catch (IOException | RuntimeException e) {
            refuse(peer, fetch, ErrorCode.OUT_OF_RANGE, Explanation.of(e));
        } catch (OutOfMemoryError e) {
            refuse(peer, fetch, ErrorCode.NO_MEMORY, "the broker has no memory for the records: " + Explanation.of(e)
                    + ". Ask later, or for fewer bytes.");
        }
    }

    /** What fails here is this consumer's matter: others wait, too, and whoever commits has more to do. */
    private static void refuse(Peer peer, Fetch fetch, ErrorCode code, String text) {
        try {
            peer.fail(fetch.request(), code, text);
        } catch (RuntimeException | OutOfMemoryError e) {
            System.err.println("a consumer gets no answer: " + Explanation.of(e));
        }
    }

    /**
     * Whole records, of one segment; one at least if there is one, however long it is.
     *
     * @param end of what may be read of the segment, in bytes; before the record if it is not known that it may
     */
    static ByteBuf read(SegmentFile segment, long offset, int end, int maxBytes) throws IOException {
        var position = segment.position(offset);
        var left = Math.min(end, segment.size()) - position;
        if (left <= 0) {
            return Unpooled.EMPTY_BUFFER;
        }
        var header = ByteBuffer.allocate(Records.HEADER);
        segment.read(header, position);
        var length = Math.min(left, Math.clamp(maxBytes, Records.length(header, 0), Records.MAX_LENGTH));
        var buffer = PooledByteBufAllocator.DEFAULT.directBuffer(length);
        try {
            var bytes = buffer.nioBuffer(0, length);
            segment.read(bytes, position);
            return buffer.writerIndex(Records.wholeRecords(buffer.nioBuffer(0, length), 0, length));
        } catch (IOException | RuntimeException e) {
            buffer.release();
            throw e;
        }
    }
}
