// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** Writes a message that is larger than a frame: frame by frame, each with room of its own. */
final class Fragments implements Exporter.More {

    /** A frame that is longer is sent in fragments. A body of 64 KiB goes in one, with its correlation. */
    static final int LIMIT = Frame.HEADER + 8 + 64 * 1024;
    /** The frame's word, the message's number, how long it is, and its kind, with {@link #FIRST}. */
    static final int HEADER = Frame.HEADER + 16;
    /** Beside the kind, in the first fragment: what begins with another one has lost its beginning with a connection. */
    static final int FIRST = 1 << 31;

    private Outgoing outgoing;
    private Exporter exporter;
    private boolean wait;
    private Pending request;
    private long number;
    private int kind;
    private int type;
    private int total;
    private int left;
    private int length;
    private final Slot own = new Slot();
    private Slot slot;
    private long first;
    /** Of a message that must not begin yet: its frames, which are kept until it is whole. */
    private Slot beside;
    private Slot last;
    /** It counts among the messages that threads have begun. */
    private boolean isCounted;

    /**
     * Begins a message; {@link #next} is called when its first byte is written.
     *
     * @param total bytes, with the correlation and without a frame's word
     */
    void begin(Outgoing outgoing, Exporter exporter, boolean wait, Pending request, long number, int kind, int type,
               int total) {
        this.outgoing = outgoing;
        this.exporter = exporter;
        this.wait = wait;
        this.request = request;
        this.number = number;
        this.kind = kind;
        this.type = type;
        this.total = total;
        left = total;
        slot = null;
        first = Peer.NO_TICKET;
        beside = null;
        last = null;
        isCounted = false;
        exporter.window(outgoing.ring().memory(), 0, 0, this);
    }

    @Override
    public void next() {
        if (left == 0) {
            throw new IndexOutOfBoundsException("the codec writes more bytes than its size() has said");
        }
        commit();
        boolean isFirst = left == total;
        int part = Math.min(left, outgoing.maxFrame() - HEADER);
        length = HEADER + part;
        if (isFirst) {
            slot = outgoing.reserve(own, length, Outgoing.Part.FIRST, wait, request);
            first = slot.position;
            isCounted = outgoing.isCounted();
            if (slot.waits) {
                beside = slot;
                last = slot;
            }
        } else if (beside != null) {
            slot = outgoing.reserveBeside(length);
            last.next = slot;
            last = slot;
        } else {
            // Once it has begun, there is no way back: nobody would tell the receiver's memory from a leak.
            slot = outgoing.reserve(own, length, Outgoing.Part.FURTHER, true, request);
        }
        left -= part;
        exporter.window(slot.memory, slot.offset + Frame.HEADER, slot.offset + length, this);
        exporter.putLong(number);
        exporter.putInt(total);
        exporter.putInt(isFirst ? kind | FIRST : kind);
    }

    private void commit() {
        if (slot != null) {
            Slot complete = slot;
            slot = null;
            if (beside == null) {
                outgoing.commit(complete, length, Frame.FRAGMENT, type, kind == Frame.MESSAGE);
            } else {
                complete.kind = Frame.FRAGMENT;
                complete.type = type;
            }
        }
    }

    /** @return the position of the first frame */
    long end() {
        if (left > 0 || exporter.left() > 0) {
            throw new IndexOutOfBoundsException("the codec has written " + (left + exporter.left())
                    + " bytes less than its size() has said");
        }
        commit();
        if (beside != null) {
            Slot whole = beside;
            beside = null;
            outgoing.commitBeside(whole);
        }
        if (isCounted) {
            outgoing.ended();
        }
        return first;
    }

    /** The codec has failed, or there is no room: the receiver forgets what it has. It acknowledges nothing before it does. */
    void abort() {
        if (beside != null) {
            // It has not begun.
            outgoing.drop(beside);
            return;
        }
        if (slot != null) {
            Slot incomplete = slot;
            slot = null;
            outgoing.commit(incomplete, length, Frame.SKIP, 0, false);
        }
        if (left < total) {
            Slot last = outgoing.reserveAnyway(own, Frame.HEADER + 8);
            exporter.window(last.memory, last.offset + Frame.HEADER, last.offset + Frame.HEADER + 8, null);
            exporter.putLong(number);
            // If it is beside the ring the receiver does not know for a while that the message has ended.
            last.ends = isCounted && last.position == Peer.NO_TICKET;
            outgoing.commit(last, Frame.HEADER + 8, Frame.FRAGMENT_ABORTED, 0, false);
            if (isCounted && !last.ends) {
                outgoing.ended();
            }
        }
    }

    void forget() {
        outgoing = null;
        request = null;
        own.memory = null;
        beside = null;
        last = null;
    }
}
