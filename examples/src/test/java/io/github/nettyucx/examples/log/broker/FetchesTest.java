// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a segment for a fetch. */
@Timeout(60)
class FetchesTest {
    private static final int RECORDS = 4;
    private static final int CAPACITY = 4096;

    @TempDir
    private Path directory;

    /** A leader that has started again knows of a segment as a whole that it may be read, or not yet. */
    @Test
    void nothingIsReadBehindTheEndOfWhatMayBeRead() throws Exception {
        try (var log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE)) {
            for (var i = 0; i < RECORDS; i++) {
                var record = Records.encode(PooledByteBufAllocator.DEFAULT, new byte[] {(byte) i});
                log.append(record.nioBuffer());
                record.release();
            }
            var segment = log.find(2);
            assertFalse(Fetches.read(segment, 2, 0, CAPACITY).isReadable());
            assertFalse(Fetches.read(segment, 2, segment.position(2), CAPACITY).isReadable());
            var read = Fetches.read(segment, 2, segment.size(), CAPACITY);
            try {
                assertEquals(segment.size() - segment.position(2), read.readableBytes());
            } finally {
                read.release();
            }
        }
    }

    /** For whose answer there is no memory, or not even for telling that. */
    private static final class Poor implements Peer {
        private final List<Message> told = new ArrayList<>();
        private final boolean hears;

        Poor(boolean hears) {
            this.hears = hears;
        }

        @Override
        public void send(Message message) {
            if (message instanceof Message.Fetched fetched) {
                fetched.records().release();
            }
            if (!hears || message instanceof Message.Fetched) {
                throw new OutOfMemoryError("as the test wants it");
            }
            told.add(message);
        }

        @Override
        public void disconnect() {
            throw new AssertionError("sent away");
        }
    }

    /** Takes records. */
    private static final class Reader implements Peer {
        private final List<Message> told = new ArrayList<>();

        @Override
        public void send(Message message) {
            told.add(message);
        }

        @Override
        public void disconnect() {
            throw new AssertionError("sent away");
        }
    }

    @Test
    void ofOneConnectionNotMoreWaitThanThereIsMemoryFor() throws Exception {
        var loop = new DefaultEventExecutor();
        try (var log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE)) {
            var fetches = new Fetches(log, new Watermark(0), loop);
            var greedy = new Reader();
            var other = new Reader();
            loop.submit(() -> {
                for (var request = 1; request <= Fetches.MOST_WAITING + 2; request++) {
                    fetches.fetch(greedy, new Message.Fetch(request, 0, 0, CAPACITY, 60_000));
                }
                fetches.fetch(other, new Message.Fetch(1, 0, 0, CAPACITY, 60_000));
                return null;
            }).get();
            assertEquals(2, greedy.told.size());
            for (var told : greedy.told) {
                assertEquals(0, assertInstanceOf(Message.Fetched.class, told).records().readableBytes());
            }
            assertEquals(0, other.told.size());
            loop.submit(() -> fetches.forget(greedy)).get();
            loop.submit(() -> fetches.forget(other)).get();
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    @Test
    void whoCannotBeAnsweredIsNotTheMatterOfOthers() throws Exception {
        var loop = new DefaultEventExecutor();
        try (var log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE)) {
            var watermark = new Watermark(0);
            var fetches = new Fetches(log, watermark, loop);
            var deaf = new Poor(false);
            var poor = new Poor(true);
            var reader = new Reader();
            loop.submit(() -> {
                var request = 1;
                for (var peer : List.of(deaf, poor, reader)) {
                    fetches.fetch(peer, new Message.Fetch(request++, 0, 0, CAPACITY, 60_000));
                }
                var record = Records.encode(PooledByteBufAllocator.DEFAULT, new byte[] {1});
                log.append(record.nioBuffer());
                record.release();
                watermark.written(1, log.active(), log.active().size());
                watermark.advance(1);
                fetches.committed();
                return null;
            }).get();
            assertEquals(1, poor.told.size());
            var failed = assertInstanceOf(Message.Failed.class, poor.told.getFirst());
            assertEquals(2, failed.request());
            assertEquals(ErrorCode.NO_MEMORY, failed.code());
            assertEquals(1, reader.told.size());
            var fetched = assertInstanceOf(Message.Fetched.class, reader.told.getFirst());
            assertEquals(3, fetched.request());
            assertEquals(Records.HEADER + 1, fetched.records().readableBytes());
            fetched.records().release();
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
