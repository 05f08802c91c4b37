// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** The credit that this side gives its peer: what may still come, and what is to be granted again. */
final class Window {

    /** Credit that is worth a message of its own once a second, whatever the window. */
    private static final int WORTH_TELLING = 16 * 1024;

    private final int size;
    private final int maxMessage;
    /** Bytes and charges that the peer has spent and not been given back. */
    private int spent;
    /** The part of it that has been consumed. */
    private int owed;

    Window(int size, int maxMessage) {
        this.size = size;
        this.maxMessage = maxMessage;
    }

    int size() {
        return size;
    }

    /** The peer has sent a message of so many bytes: what UCX tells is what the peer says, and not what has come. */
    void spend(long length) throws ProtocolException {
        if (length <= 0 || length > maxMessage) {
            throw new ProtocolException("the peer sent a message of " + Long.toUnsignedString(length)
                    + " bytes; expected 1 to " + maxMessage);
        }
        long total = spent + length + Limits.MESSAGE_CHARGE;
        if (total > size) {
            throw new ProtocolException("the peer sent " + (total - size)
                    + " bytes more than its credit allows (window: " + size + " bytes)");
        }
        spent = (int) total;
    }

    /** So much has been consumed, with the charges of its messages. */
    void owe(int credit) {
        owed += credit;
    }

    void oweAll() {
        owed = spent;
    }

    /**
     * Takes the credit that may be granted again.
     *
     * @param unit what is left over of it, in bytes, stays
     */
    int takeGrant(int unit) {
        int grant = owed - owed % unit;
        owed -= grant;
        spent -= grant;
        return grant;
    }

    /** Whether so much credit is owed that it has to be sent even if nothing else is. */
    boolean isGrantDue() {
        return owed >= size / 4;
    }

    /**
     * Whether the peer may be waiting for what it is owed, though that is little: it has spent more than a half, or has sent all
     * that it wants to, and closes. One that reads slowly would otherwise be taken for one that does not read.
     */
    boolean isGrantWaitedFor() {
        return owed >= WORTH_TELLING || owed > 0 && spent > size / 2;
    }
}
