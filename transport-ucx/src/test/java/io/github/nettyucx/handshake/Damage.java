// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import java.util.Random;

/** What happens to the bytes of one direction on their way: nothing, or one thing at one place. */
final class Damage {

    enum Kind {
        NONE, FLIP, OVERWRITE, INSERT, TRUNCATE, GARBAGE, ENDLESS_FRAMES
    }

    /** Where the frames of a new link begin, so that whole ones are hit, too. */
    private static final int[] FROM_CLIENT = {0, Hello.LENGTH, Hello.LENGTH + 56 + 48};
    private static final int[] FROM_SERVER = {0, Answer.LENGTH};
    private static final int ENDLESS = 64 * 1024;

    final Kind kind;
    /** Offset in what the sender says. */
    final int at;
    private final int length;
    private final Random random;
    /** It has come to it. */
    boolean happened;

    private Damage(Kind kind, int at, int length, Random random) {
        this.kind = kind;
        this.at = at;
        this.length = length;
        this.random = random;
    }

    static Damage none() {
        return new Damage(Kind.NONE, Integer.MAX_VALUE, 0, null);
    }

    static Damage any(Random random, boolean fromClient) {
        Kind kind = Kind.values()[1 + random.nextInt(Kind.values().length - 1)];
        int[] frames = fromClient ? FROM_CLIENT : FROM_SERVER;
        int frame = frames[random.nextInt(frames.length)];
        int offset = switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(8);
            case 2 -> random.nextInt(64);
            default -> random.nextInt(Answer.LENGTH);
        };
        return new Damage(kind, frame + offset, 1 + random.nextInt(kind == Kind.OVERWRITE ? 8 : 300), random);
    }

    boolean isWithin(int start, int end) {
        return happened && at >= start && at < end;
    }

    /**
     * Passes on what the sender says.
     *
     * @param before how much it has said before
     * @return whether anything of what it says later gets through
     */
    boolean pass(byte[] bytes, int before, ByteBuf out) {
        if (at >= before + bytes.length || at + length <= before && kind == Kind.OVERWRITE) {
            out.writeBytes(bytes);
            return true;
        }
        if (kind != Kind.OVERWRITE && at < before) {
            out.writeBytes(bytes);
            return true;
        }
        happened = true;
        int start = Math.max(0, at - before);
        out.writeBytes(bytes, 0, start);
        switch (kind) {
            case FLIP -> {
                out.writeByte(bytes[start] ^ 1 << random.nextInt(8));
                out.writeBytes(bytes, start + 1, bytes.length - start - 1);
            }
            case OVERWRITE -> {
                int end = Math.min(bytes.length, at + length - before);
                for (int i = start; i < end; i++) {
                    // Another byte in any case.
                    out.writeByte(bytes[i] + 1 + random.nextInt(255));
                }
                out.writeBytes(bytes, end, bytes.length - end);
            }
            case INSERT -> {
                byte[] more = new byte[length];
                random.nextBytes(more);
                out.writeBytes(more);
                out.writeBytes(bytes, start, bytes.length - start);
            }
            case GARBAGE -> {
                byte[] more = new byte[random.nextInt(ENDLESS)];
                random.nextBytes(more);
                out.writeBytes(more);
            }
            case ENDLESS_FRAMES -> endless(out);
            default -> {
            }
        }
        return kind != Kind.TRUNCATE && kind != Kind.GARBAGE && kind != Kind.ENDLESS_FRAMES;
    }

    /** Frames as long as they may be, whose headers are right. */
    private void endless(ByteBuf out) {
        int end = out.writerIndex() + ENDLESS;
        while (out.writerIndex() < end) {
            FrameType type = FrameType.values()[random.nextInt(FrameType.values().length)];
            byte[] content = new byte[type.maxLength() - FrameType.HEADER_LENGTH];
            random.nextBytes(content);
            out.writeByte(type.number()).writeByte(0).writeShort(type.maxLength()).writeBytes(content);
        }
    }
}
