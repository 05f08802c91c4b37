// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.util.Arrays;

/**
 * What is written at once: the records of one or several sends, one behind the other, and who is to be told of them. It is
 * used again for others when all have been told. For the event loop only.
 */
final class Batch implements ConnectionHandler.Waiting {
    /** Of what is put together; what is larger goes by itself. */
    static final int MAX_BYTES = 16 << 10;
    static final int MAX_COUNT = 32;

    /** Whose batch it is. */
    interface Owner {
        /** It is committed. @param offset of its first record */
        void committed(Batch batch, long offset);

        /** It is not; the owner has those told that have not been. */
        void failed(Batch batch, Throwable cause);
    }

    private final Owner owner;
    /** Of each send: whom to tell, with what, how many records it has, and where in the batch it ends. */
    private final Producer.Acknowledgement[] told = new Producer.Acknowledgement[MAX_COUNT];
    private final long[] ids = new long[MAX_COUNT];
    private final int[] counts = new int[MAX_COUNT];
    private final int[] ends = new int[MAX_COUNT];
    private int size;
    /** Those in front of it have been told. */
    private int first;
    private ByteBuf records;
    private boolean joinable;
    /** By which the broker answers. */
    int request;
    /** It may be in the segment, and then the broker answers. */
    boolean isWritten;

    Batch(Owner owner) {
        this.owner = owner;
    }

    /**
     * @param buffer with the records, or for them; it belongs to the batch from now on
     * @param more whether there may be several sends
     */
    void begin(ByteBuf buffer, boolean more) {
        records = buffer;
        joinable = more;
    }

    /** Of the batch, one behind the other. */
    ByteBuf records() {
        return records;
    }

    int length() {
        return records.readableBytes();
    }

    /** How many sends it has. */
    int size() {
        return size;
    }

    /** Whether there may be one more, of so many bytes. */
    boolean hasRoom(int bytes) {
        return !isFull() && bytes <= records.writableBytes();
    }

    /** Whether nothing can join it. */
    boolean isFull() {
        return !joinable || size == MAX_COUNT || !records.isWritable();
    }

    /** The records at the end are a send's. @param count how many they are */
    void add(int count, Producer.Acknowledgement one, long id) {
        told[size] = one;
        ids[size] = id;
        counts[size] = count;
        ends[size++] = length();
    }

    // ------------------------------------------------------------------------------------------- what becomes of it

    @Override
    public void answered(Message.Answer answer) {
        owner.committed(this, ((Message.Produced) answer).offset());
    }

    /** Who has sent records that lie behind is told later. */
    @Override
    public void partlyAnswered(Message.PartlyProduced answer) {
        acknowledge(answer.offset(), answer.length());
    }

    @Override
    public void failed(Throwable cause) {
        owner.failed(this, cause);
    }

    /** Tells all that have not been told. @param offset of the first record of theirs */
    void acknowledge(long offset) {
        acknowledge(offset, Integer.MAX_VALUE);
    }

    private void acknowledge(long from, int length) {
        var offset = from;
        while (first < size && ends[first] <= length) {
            var one = first++;
            tell(one, offset, null);
            offset += counts[one];
        }
    }

    /** The same. */
    void fail(Throwable cause) {
        while (first < size) {
            tell(first++, 0, cause);
        }
    }

    private void tell(int one, long offset, Throwable cause) {
        LogConnection.tell(told[one], ids[one], offset, cause);
    }

    /** The records are not needed any more. If somebody has given back what was not his, those are told whose they are. */
    void release() {
        ReferenceCountUtil.safeRelease(records);
    }

    /** Nothing is left of it; whoever has it may {@link #begin} it anew. */
    void clear() {
        Arrays.fill(told, 0, size, null);
        size = 0;
        first = 0;
        records = null;
        request = Message.UNASKED;
        isWritten = false;
    }
}
