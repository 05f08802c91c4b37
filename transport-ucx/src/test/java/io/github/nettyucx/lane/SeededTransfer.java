// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two lanes on the ends of one connection, and applications that write and read whatever a seed says. */
final class SeededTransfer {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final SplittableRandom random;
    private final Path file;
    private final byte[] content;

    SeededTransfer(long seed, Path file) throws IOException {
        // Neighbouring seeds shall not have similar runs.
        random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L);
        this.file = file;
        content = Files.readAllBytes(file);
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    private int pick(int... choices) {
        return choices[random.nextInt(choices.length)];
    }

    void run() throws Exception {
        try (LanePair pair = new LanePair(pick(0, 4 * 1024, 16 * 1024, 64 * 1024), pick(0, 4 * 1024, 64 * 1024))) {
            Party near = new Party(pair.nearLane(), random.nextInt(400_000));
            Party far = new Party(pair.farLane(), random.nextInt(400_000));
            long start = System.nanoTime();
            while (!near.isDone() || !far.isDone()) {
                assertTrue(System.nanoTime() - start < PATIENCE_NANOS, () -> "stuck: " + near + ", " + far);
                (random.nextBoolean() ? near : far).step();
                if (chance(30) || near.isStuck() && far.isStuck()) {
                    pair.turn();
                }
            }
            near.check(far);
            far.check(near);
        }
    }

    private final class Party {

        private final LaneEnd end;
        private final List<byte[]> sent = new ArrayList<>();
        private final List<ChannelPromise> promises = new ArrayList<>();
        private int toSend;
        private boolean waiting;
        private boolean finished;
        private int outputSeen;

        Party(LaneEnd end, int toSend) {
            this.end = end;
            this.toSend = toSend;
        }

        void step() throws Exception {
            if (chance(40)) {
                read();
            }
            if (finished) {
                return;
            }
            if (toSend > 0 && chance(50)) {
                for (int n = random.nextInt(20); n >= 0 && toSend > 0; n--) {
                    add();
                }
            }
            if (!waiting || end.outputNews > outputSeen) {
                outputSeen = end.outputNews;
                waiting = end.write(1 + random.nextInt(16)) == Written.WAITING;
            }
            if (toSend == 0 && end.out.isEmpty()) {
                end.lane.finish(chance(50));
                finished = true;
            }
        }

        private void read() {
            boolean wanted = chance(80);
            end.lane.wanted(wanted);
            if (wanted) {
                int limit = pick(1, 7, 100, 2048, 65_536);
                for (int n = random.nextInt(30); n >= 0 && end.lane.isReadable(); n--) {
                    end.read(limit);
                }
            }
        }

        private void add() {
            int length = Math.min(toSend, random.nextInt(pick(2, 100, 5000, 9000, 40_000, 200_000)));
            toSend -= length;
            if (chance(5)) {
                end.addUnflushed(Unpooled.directBuffer(10).writeZero(10)).cancel(false);
            }
            if (chance(10) && length <= content.length) {
                int position = random.nextInt(content.length - length + 1);
                note(Arrays.copyOfRange(content, position, position + length));
                promises.add(end.add(new DefaultFileRegion(file.toFile(), position, length)));
                return;
            }
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            note(bytes);
            Object message = switch (random.nextInt(8)) {
                case 0 -> Unpooled.wrappedBuffer(bytes);
                case 1 -> composite(bytes);
                case 2 -> new ArrayRegion(bytes, 1 + random.nextInt(100_000));
                case 3 -> direct(bytes).slice();
                default -> direct(bytes);
            };
            ChannelPromise promise = end.add(message);
            promises.add(promise);
            if (chance(5)) {
                promise.addListener((ChannelFutureListener) done -> end.write());
            }
        }

        private void note(byte[] bytes) {
            sent.add(bytes);
        }

        private ByteBuf direct(byte[] bytes) {
            return Unpooled.directBuffer(bytes.length + 1).writeBytes(bytes);
        }

        private ByteBuf composite(byte[] bytes) {
            int first = random.nextInt(bytes.length + 1);
            int second = first + random.nextInt(bytes.length - first + 1);
            return Unpooled.compositeBuffer().addComponents(true, direct(Arrays.copyOf(bytes, first)),
                    Unpooled.wrappedBuffer(Arrays.copyOfRange(bytes, first, second)),
                    direct(Arrays.copyOfRange(bytes, second, bytes.length)));
        }

        boolean isStuck() {
            return !end.lane.isReadable() && (finished || waiting && end.outputNews == outputSeen);
        }

        boolean isDone() {
            return finished && end.lane.isAtEnd();
        }

        void check(Party peer) {
            assertNull(end.lost);
            assertArrayEquals(peer.written(), end.bytes());
            assertEquals(0, promises.stream().filter(promise -> !promise.isSuccess()).count());
            assertTrue(end.lane.isEndDelivered());
            assertEquals(peer.end.traffic.sent().sum() > 0, end.input.size() > 0);
        }

        @Override
        public String toString() {
            return toSend + " bytes to write, " + end.out.size() + " messages to send, " + end.input.size()
                    + " bytes read, finished: " + finished + ", waiting: " + waiting + ", lost: " + end.lost;
        }

        private byte[] written() {
            int length = sent.stream().mapToInt(bytes -> bytes.length).sum();
            byte[] all = new byte[length];
            int at = 0;
            for (byte[] bytes : sent) {
                System.arraycopy(bytes, 0, all, at, bytes.length);
                at += bytes.length;
            }
            return all;
        }
    }
}
