// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What is replicated: entries that begin with their number, and in which order they came. */
final class RatisEntries extends BaseStateMachine {

    private static final int SUMMARY = -1;

    /**
     * What came to be written.
     *
     * @param entries      that are there
     * @param twice        how many came again
     * @param displaced    how many did not come directly after the one before them
     * @param breakAfter   the number before the first of these, or -1
     * @param breakWith    its own number, or -1
     * @param breakUntil   the number of the last of these, or -1
     */
    record Summary(int entries, int twice, int displaced, int breakAfter, int breakWith, int breakUntil) {

        static Summary of(ByteString bytes) {
            ByteBuffer numbers = bytes.asReadOnlyByteBuffer();
            return new Summary(numbers.getInt(), numbers.getInt(), numbers.getInt(), numbers.getInt(), numbers.getInt(),
                    numbers.getInt());
        }

        private ByteString bytes() {
            return ByteString.copyFrom(ByteBuffer.allocate(6 * Integer.BYTES).putInt(entries).putInt(twice).putInt(displaced)
                    .putInt(breakAfter).putInt(breakWith).putInt(breakUntil).flip());
        }
    }

    private final CompletableFuture<Void> leading = new CompletableFuture<>();
    private final Map<Integer, ByteString> entries = new HashMap<>();
    private int last = -1;
    private int twice;
    private int displaced;
    private int breakAfter = -1;
    private int breakWith = -1;
    private int breakUntil = -1;

    static Message request(int number) {
        return Message.valueOf(ByteString.copyFrom(ByteBuffer.allocate(Integer.BYTES).putInt(number).flip()));
    }

    static Message summaryRequest() {
        return request(SUMMARY);
    }

    /** Done when this server leads for the first time. */
    CompletableFuture<Void> leading() {
        return leading;
    }

    @Override
    public void notifyLeaderReady() {
        leading.complete(null);
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        write(entry.getStateMachineLogEntry().getLogData());
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        return CompletableFuture.completedFuture(Message.valueOf("written"));
    }

    private synchronized void write(ByteString entry) {
        int number = entry.asReadOnlyByteBuffer().getInt();
        if (number != last + 1) {
            displaced++;
            breakUntil = number;
            if (breakWith < 0) {
                breakAfter = last;
                breakWith = number;
            }
        }
        last = number;
        if (entries.put(number, entry) != null) {
            twice++;
        }
    }

    @Override
    public synchronized CompletableFuture<Message> query(Message request) {
        int number = request.getContent().asReadOnlyByteBuffer().getInt();
        ByteString answer = number == SUMMARY
                ? new Summary(entries.size(), twice, displaced, breakAfter, breakWith, breakUntil).bytes()
                : entries.getOrDefault(number, ByteString.EMPTY);
        return CompletableFuture.completedFuture(Message.valueOf(answer));
    }
}
