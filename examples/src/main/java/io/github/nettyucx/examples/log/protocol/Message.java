// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * What a client and the broker say to each other. An answer has the number of its request; a message that nobody has asked
 * for has none. Buffers belong to whoever receives the message.
 */
public sealed interface Message {
    /** The number of a message that is no answer. */
    int UNASKED = 0;

    /** Nobody takes it: gives back what it has. */
    default void release() {
    }

    // ------------------------------------------------------------------------------------------- requests

    /** Creates the topic if there is none. */
    record OpenTopic(int request, int partitions, String name) implements Message { }

    record Produce(int request, int partition, ByteBuf records) implements Message {
        @Override
        public void release() {
            records.release();
        }
    }

    /** @param waitMillis how long the broker may wait for a record, if there is none */
    record Fetch(int request, int partition, long offset, int maxBytes, int waitMillis) implements Message { }

    record Access(int request, int partition, AccessMode mode) implements Message { }

    /** A producer has found that its record does not fit, where its turn would have been. Needs no answer. */
    record Full(int partition, int generation, int turn, long position) implements Message { }

    /**
     * Of a segment that was full: all that this producer has begun in its memory is done, and nothing more comes. Needs no
     * answer.
     */
    record Released(int partition, int generation) implements Message { }

    /** Gives up the access that the connection has. */
    record Leave(int request, int partition) implements Message { }

    /** Asks for the memory in which a record lies. */
    record Locate(int request, int partition, long offset) implements Message { }

    /** Asks for the memory in which all partitions have their slots. */
    record OpenSlots(int request) implements Message { }

    record AskStatistics(int request) implements Message { }

    /** Asks which broker leads. */
    record FindLeader(int request) implements Message { }

    // ------------------------------------------------------------------------------------------- requests of a leader

    /**
     * Whoever sends this leads, and writes to the broker from now on.
     *
     * @param cluster its name
     */
    record Follow(int request, long epoch, String cluster) implements Message { }

    /**
     * Has a partition's log cut where it begins to differ from the leader's.
     *
     * @param end the offset behind the leader's last record
     * @param epochs of the leader's records
     */
    record Adopt(int request, int partition, long end, List<EpochHistory.Entry> epochs) implements Message { }

    // ------------------------------------------------------------------------------------------- answers

    /** Has the number of its request. */
    sealed interface Answer extends Message {
        int request();
    }

    /** @param first the number of the topic's first partition; the others follow */
    record Topic(int request, int first, int partitions) implements Answer { }

    /** @param offset of the first record */
    record Produced(int request, long offset) implements Answer { }

    /**
     * Comes in front of the failure of a request whose records are not all whole.
     *
     * @param offset of the first record
     * @param length of the records that are committed, in bytes; what lies behind them is not
     */
    record PartlyProduced(int request, long offset, int length) implements Message { }

    /** @param next the partition's next offset */
    record Fetched(int request, long next, ByteBuf records) implements Answer {
        @Override
        public void release() {
            records.release();
        }
    }

    /**
     * Comes unasked too, when a segment has been sealed and another one takes its place. The key may be that of memory
     * which an earlier segment had.
     *
     * @param position where an exclusive producer goes on
     * @param capacity where the segment ends; the word of order lies there
     * @param next the offset behind the partition's last record, which need not be committed
     */
    record Granted(int request, int partition, int generation, AccessMode mode, long position, long capacity, long next,
                   byte[] key) implements Answer { }

    record Done(int request) implements Answer { }

    /**
     * @param generation of the current segment; {@link #SEALED} for one that was sealed before
     * @param position where the record lies
     * @param readable of the segment, in bytes
     */
    record Located(int request, int generation, long position, long readable, byte[] key) implements Answer {
        public static final int SEALED = -1;
    }

    record Slots(int request, byte[] key) implements Answer { }

    /**
     * @param cpuNanos of the broker's process
     * @param turns of its event loop in which there was something to take; 0 for transports that do not count them
     * @param followersInSync those that have all that is committed
     */
    record Statistics(int request, long records, long bytes, long cpuNanos, long turns, int followersInSync)
            implements Answer { }

    /**
     * @param epoch the number of the leadership; 0 for a broker that is no member of a cluster
     * @param address of the broker that leads; empty if there is none at the moment
     */
    record Leader(int request, long epoch, String address) implements Answer { }

    /** @param next the offset behind the last record that is left */
    record Adopted(int request, long next) implements Answer { }

    record Failed(int request, ErrorCode code, String text) implements Answer { }

    /** Unasked: whoever writes to that partition's memory has it no more, and gets no other. The connection goes on. */
    record Denied(int partition, ErrorCode code, String text) implements Message { }

    /** Unasked: what has not been acknowledged of that generation never will be. */
    record Sealed(int partition, int generation, SealReason reason) implements Message { }
}
