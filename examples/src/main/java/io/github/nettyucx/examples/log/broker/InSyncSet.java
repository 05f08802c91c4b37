// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.cluster.ClusterCommand;
import io.github.nettyucx.examples.log.cluster.ClusterState;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The brokers that have to have a record before the leader of one epoch commits it. A broker that leaves is counted until
 * the cluster has agreed to that, and one that returns from before the cluster is asked. So whoever the cluster knows to be
 * in sync has all that is committed. For the leader's event loop only.
 */
final class InSyncSet {

    /** What the set needs of its broker. */
    interface Owner {
        /** Has the cluster agree; completes on the event loop. */
        CompletableFuture<ClusterState> submit(ClusterCommand command);

        /** Fewer may be needed now. */
        void changed();

        /** The cluster has not agreed: this broker does not lead any more. */
        void refused(Throwable cause);
    }

    private enum State {
        /** The cluster knows what is known here. */
        SETTLED,
        /** It has been asked to agree to a change. */
        ASKING,
        /** It has not agreed. */
        REFUSED
    }

    private final long epoch;
    private final String self;
    private final Owner owner;
    private final Set<String> joining = new HashSet<>();
    private final Set<String> leaving = new HashSet<>();
    private State state = State.SETTLED;
    private SortedSet<String> agreed;
    private long version;
    /** What the cluster has been asked for. */
    private SortedSet<String> asked = new TreeSet<>();

    /** @param begun the state with which the epoch has begun */
    InSyncSet(ClusterState begun, Owner owner) {
        epoch = begun.epoch();
        self = begun.leader();
        version = begun.version();
        agreed = begun.inSync();
        this.owner = owner;
    }

    /** All that are counted, without the leader. */
    SortedSet<String> counted() {
        var all = new TreeSet<>(agreed);
        all.addAll(joining);
        all.addAll(asked);
        all.remove(self);
        return all;
    }

    /** How many the cluster knows to be in sync, without the leader. */
    int size() {
        return agreed.size() - 1;
    }

    /** Whether the cluster knows a broker to be in sync, and nothing else is to be agreed to. */
    boolean stays(String node) {
        return agreed.contains(node) && !leaving.contains(node) && (state == State.SETTLED || asked.contains(node));
    }

    /** All that are counted, as followers; {@code null} if one of them is unknown. */
    Collection<Follower> counted(Map<String, Follower> followers) {
        var counted = counted();
        return followers.keySet().containsAll(counted) ? counted.stream().map((Function<String, Follower>) followers::get)
                .toList() : null;
    }

    /** It has all that is committed, and is written to. */
    void join(String node) {
        leaving.remove(node);
        if (!agreed.contains(node) && !asked.contains(node) && joining.add(node)) {
            ask();
        }
    }

    /** It is not written to. */
    void leave(String node) {
        joining.remove(node);
        if ((agreed.contains(node) || asked.contains(node)) && leaving.add(node)) {
            ask();
        }
    }

    private void ask() {
        if (state != State.SETTLED) {
            return;
        }
        var wanted = new TreeSet<>(agreed);
        wanted.addAll(joining);
        wanted.removeAll(leaving);
        if (wanted.equals(agreed)) {
            leaving.clear();
            return;
        }
        state = State.ASKING;
        asked = wanted;
        joining.clear();
        owner.submit(new ClusterCommand.ChangeInSync(epoch, version, wanted)).whenComplete((_, cause) -> {
            if (cause != null) {
                state = State.REFUSED;
                owner.refused(cause);
                return;
            }
            state = State.SETTLED;
            agreed = wanted;
            version++;
            asked = new TreeSet<>();
            leaving.retainAll(agreed);
            owner.changed();
            ask();
        });
    }

    @Override
    public String toString() {
        return "epoch " + epoch + ": " + List.copyOf(agreed);
    }
}
