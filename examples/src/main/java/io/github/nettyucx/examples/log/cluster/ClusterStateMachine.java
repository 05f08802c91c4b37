// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import io.github.nettyucx.examples.log.cluster.ClusterState.RejectedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/** Applies what Raft has committed. It keeps no files: after a start Raft's own log is applied from its beginning. */
final class ClusterStateMachine extends BaseStateMachine {
    private static final byte ACCEPTED = 0;
    private static final byte REJECTED = 1;

    private final Consumer<ClusterState> changed;
    private volatile ClusterState state;

    /** @param changed is called for each change, by one thread at a time */
    ClusterStateMachine(ClusterState initial, Consumer<ClusterState> changed) {
        state = initial;
        this.changed = changed;
    }

    ClusterState state() {
        return state;
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        var entry = transaction.getLogEntry();
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        try {
            state = state.apply(ClusterCommand.of(entry.getStateMachineLogEntry().getLogData().toByteArray()));
        } catch (RejectedException e) {
            return CompletableFuture.completedFuture(answer(REJECTED, e.getMessage().getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
        changed.accept(state);
        return CompletableFuture.completedFuture(answer(ACCEPTED, state.toBytes()));
    }

    /** Of any content: that there is an answer says that this broker leads Raft, and did when it was asked. */
    @Override
    public CompletableFuture<Message> query(Message request) {
        return CompletableFuture.completedFuture(Message.EMPTY);
    }

    private static Message answer(byte kind, byte[] content) {
        return Message.valueOf(ByteString.copyFrom(new byte[] {kind}).concat(ByteString.copyFrom(content)));
    }

    /** The state behind a command, as its answer tells it. */
    static ClusterState accepted(ByteString answer) throws IOException, RejectedException {
        var content = answer.substring(1).toByteArray();
        if (answer.byteAt(0) == REJECTED) {
            throw new RejectedException(new String(content, StandardCharsets.UTF_8));
        }
        return ClusterState.of(content);
    }
}
