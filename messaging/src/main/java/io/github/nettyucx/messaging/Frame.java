// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * What two nodes say to each other, little-endian. Every frame begins with a word of 8 bytes, and has so many bytes that
 * the next one begins at a multiple of 8:
 * <pre>
 * bits  0 to 31  length in bytes, with this word, without what fills up to the next frame
 * bits 32 to 47  type of the message, or 0
 * bits 48 to 55  kind
 * bits 56 to 63  0
 * </pre>
 * Frames with messages lie in the sender's ring as they travel. The length is written last: a length of 0 is a frame
 * that is not complete.
 */
final class Frame {

    static final int HEADER = 8;
    static final int ALIGNMENT = 8;

    /** A message: the body as its codec has written it. */
    static final int MESSAGE = 1;
    /** A request: a correlation of 8 bytes, and the body. */
    static final int REQUEST = 2;
    /** Its response: the request's correlation, and the body. */
    static final int RESPONSE = 3;
    /** Instead of a response: the correlation, and why, in UTF-8. */
    static final int FAILURE = 4;
    /**
     * A part of one of the four above that is larger than {@link Fragments#LIMIT}: its number among those of this sender
     * (8 bytes), how long the whole is (4), its kind (4), and so many of its bytes.
     */
    static final int FRAGMENT = 5;
    /** There is no further part of the message with that number: its codec has failed. */
    static final int FRAGMENT_ABORTED = 6;
    /** Nothing: a codec has failed. */
    static final int SKIP = 7;
    /** Only this word is sent. It stands for so many bytes at the end of the ring that have no frame. */
    static final int PAD = 8;

    /** The first frame of a connection, in both directions; see {@link Hello}. */
    static final int HELLO = 16;
    /** So many bytes of the frames above (8 bytes), since the connection began, have reached their handlers. */
    static final int ACK = 17;
    /** The sender wants to close the connection, and sends nothing of the kinds above any more. */
    static final int GOODBYE = 18;
    /** The answer: neither do I, and you may close. */
    static final int BYE = 19;

    private Frame() {
    }

    /** The first word without the length. */
    static int head(int kind, int type) {
        return kind << 16 | type;
    }

    /** Whether that is the head of a {@link #FRAGMENT} or a {@link #FRAGMENT_ABORTED}. */
    static boolean isOfFragments(int head) {
        int kind = head >>> 16;
        return kind == FRAGMENT || kind == FRAGMENT_ABORTED;
    }

    static long word(int length, int kind, int type) {
        return (long) head(kind, type) << 32 | length;
    }

    static int length(long word) {
        return (int) word;
    }

    static int type(long word) {
        return (int) (word >>> 32) & 0xFFFF;
    }

    static int kind(long word) {
        return (int) (word >>> 48) & 0xFF;
    }

    /** How far it is from a frame of that length to the next. */
    static int aligned(int length) {
        return length + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
