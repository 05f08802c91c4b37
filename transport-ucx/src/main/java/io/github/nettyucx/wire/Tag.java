// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * The 64-bit tag of a message: all that it says besides its bytes.
 * <pre>
 *  63            32 31    28 27             0
 * +----------------+--------+----------------+
 * |   channel id   |  type  |     value      |
 * +----------------+--------+----------------+
 * </pre>
 * The channel id is the one that the <em>receiver</em> chose, and announced in the handshake.
 */
public final class Tag {

    /** Bytes of the stream. Value: see {@link #ofData}. */
    static final int DATA = 1;
    /** No bytes. Value: credit granted. */
    static final int CREDIT = 2;
    /** No bytes: the sender's stream ends here. Value: see {@link #ofFin}. */
    static final int FIN = 3;
    /** No bytes: every byte before the FIN lies in the receiver's memory. */
    static final int FIN_ACK = 4;
    /** What is asked of the receiver's memory. Value: number of the operation, which the sender chose. */
    public static final int MEMORY_REQUEST = 5;
    /** Bytes for the receiver's memory, right behind their request. Value: number of the operation. */
    public static final int MEMORY_PUT = 6;
    /** What has become of an operation. Value: its number, which the receiver chose. */
    public static final int MEMORY_ANSWER = 7;
    /** Bytes that the receiver has asked for. Value: number of the operation. */
    public static final int MEMORY_GET = 8;
    /** No bytes: a key that the receiver has opened is worth nothing any more. Value: the sender's number of the opening. */
    public static final int MEMORY_REVOKED = 9;

    /** No bytes. Value: see {@link #ofCount}. */
    static final int COUNT = 10;

    /** The sender goes on reading. */
    static final int FIN_HALF = 0;
    /** The sender reads no more either. */
    static final int FIN_CLOSE = 1;

    /** UCX has been given the messages, and may need the sender for some still. */
    static final int COUNT_BEGUN = 0;
    /** UCX has all of them. */
    static final int COUNT_WHOLE = 1;

    static final int VALUE_BITS = 28;
    public static final int MAX_VALUE = (1 << VALUE_BITS) - 1;

    /** {@link #DATA} grants multiples of so many bytes. */
    static final int GRANT_UNIT = 1024;
    private static final int NUMBER_BITS = 10;
    private static final int MAX_NUMBER = (1 << NUMBER_BITS) - 1;
    private static final int MAX_COUNT = MAX_VALUE >> 1;

    private Tag() {
    }

    public static long of(int channelId, int type, int value) {
        assert value >= 0 && value <= MAX_VALUE : value;
        return (long) channelId << 32 | (long) type << VALUE_BITS | value;
    }

    /**
     * @param number how many {@link #DATA} the sender has sent on this connection before; its last bits are told
     * @param grant  credit that is granted to the receiver of this message, a multiple of {@link #GRANT_UNIT} bytes; or 0
     */
    static long ofData(int channelId, int number, int grant) {
        assert grant >= 0 && grant <= Limits.MAX_WINDOW && grant % GRANT_UNIT == 0 : grant;
        return of(channelId, DATA, grant / GRANT_UNIT << NUMBER_BITS | number & MAX_NUMBER);
    }

    /** @param count of all {@link #DATA} that the sender has sent on this connection; its last bits are told */
    static long ofFin(int channelId, int count, boolean readsNoMore) {
        return of(channelId, FIN, (count & MAX_COUNT) << 1 | (readsNoMore ? FIN_CLOSE : FIN_HALF));
    }

    /**
     * @param count   of all {@link #DATA} and messages about memory that the sender has sent; its last bits are told
     * @param isWhole whether UCX has all of their bytes, and needs nothing more of the sender for them
     */
    static long ofCount(int channelId, int count, boolean isWhole) {
        return of(channelId, COUNT, (count & MAX_COUNT) << 1 | (isWhole ? COUNT_WHOLE : COUNT_BEGUN));
    }

    /** Of a {@link #FIN} or a {@link #COUNT}: whether it can stand behind so many. */
    static boolean isCount(long tag, int count) {
        return ((value(tag) >> 1 ^ count) & MAX_COUNT) == 0;
    }

    /** Of a {@link #COUNT}: whether nothing of what it counts is still under way. */
    static boolean isWhole(long tag) {
        return (value(tag) & 1) == COUNT_WHOLE;
    }

    /** Of a {@link #DATA}: what it grants, in bytes. */
    static int grant(long tag) {
        return (value(tag) >> NUMBER_BITS) * GRANT_UNIT;
    }

    /** Of a {@link #DATA}: whether it can be the one behind so many. */
    static boolean isNumber(long tag, int number) {
        return ((value(tag) ^ number) & MAX_NUMBER) == 0;
    }

    /** Of a {@link #FIN}: whether its sender goes on reading. */
    static boolean isHalf(long tag) {
        return (value(tag) & 1) == FIN_HALF;
    }

    static int type(long tag) {
        return (int) (tag >>> VALUE_BITS) & 0xf;
    }

    static int value(long tag) {
        return (int) tag & MAX_VALUE;
    }
}
