// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.cluster.ClusterCommand;
import io.github.nettyucx.examples.log.cluster.ClusterNode;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.cluster.ClusterState;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Whether this broker leads, and whom it follows if not. Raft chooses: the leader of Raft becomes the leader of the log, in a
 * new epoch, if it is in sync and its files can be written, and passes the leadership on if not. For the broker's event loop
 * only, but {@link #close}.
 */
final class Leadership implements CommitRule {

    enum Role {
        /** Somebody else leads, or nobody. */
        FOLLOWING,
        /** Raft is led by this broker, and has been asked to begin an epoch. */
        CLAIMING,
        /** Raft is led by this broker, which cannot lead: it asks another one. */
        PASSING_ON,
        /** The epoch has begun. Those that are in sync do not have all that this broker has yet. */
        TAKING_OVER,
        /** Clients are served. */
        LEADING
    }

    /** How often one looks whether Raft has chosen another leader; its own messages about that come from many threads. */
    private static final long TICK_MILLIS = 50;
    private static final long ANSWER_SECONDS = 3;

    private final ClusterSettings cluster;
    private final BrokerSettings settings;
    private final TransportKind transport;
    private final EventExecutor loop;
    private final Set<BrokerHandler> connections = new HashSet<>();
    /** Of this leadership, by the ids of their nodes; empty when this broker does not lead. */
    private final Map<String, Follower> followers = new HashMap<>();
    /** Those of all leaderships, whose threads may not have ended yet. */
    private final List<Follower> started = new ArrayList<>();
    private Topics topics;
    private ClusterNode node;
    private Future<?> ticking;
    private Role role = Role.FOLLOWING;
    private ClusterState state;
    /** The latest that is known of, by Raft or by its leader. */
    private long epoch;
    /** Of the leader; {@code null} if none has come, or it has gone. */
    private BrokerHandler leader;
    /** The two below are {@code null} when this broker does not lead. */
    private InSyncSet inSync;
    private Lease lease;
    /** As the set above has it; {@code null} if there is one that cannot be written to. */
    private Collection<Follower> required;
    /** How often somebody has been asked since Raft was led by somebody else. */
    private int passed;
    private final Setback setback = new Setback(System::nanoTime);

    Leadership(BrokerSettings settings, TransportKind transport, EventExecutor loop) {
        this.settings = settings;
        this.transport = transport;
        this.loop = loop;
        cluster = settings.cluster();
    }

    /** Tells it what this broker has. Before the event loop serves anybody: a leader may come as soon as it does. */
    void serve(Topics opened) {
        topics = opened;
        // After a start Raft may know less for a while, and an earlier leader must not be followed meanwhile: what it does
        // not have would be cut off.
        epoch = topics.partitions().stream().mapToLong(Partition::lastEpoch).max().orElse(0);
    }

    /** Takes part from now on. Not for the event loop. */
    void start() {
        node = ClusterNode.start(cluster, settings.directory(), changed -> execute(() -> changed(changed)));
        execute(() -> {
            ticking = loop.scheduleWithFixedDelay(() -> guarded(this::tick), TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
            changed(node.state());
        });
    }

    /** What Raft has to tell comes from its threads, also when the broker has ended. */
    private void execute(Runnable task) {
        try {
            loop.execute(() -> guarded(task));
        } catch (RejectedExecutionException e) {
            // Nobody asks any more.
        }
    }

    /** What is not foreseen is told, and ends this broker's leadership: another one may do better. All else goes on. */
    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            System.err.println("something has failed that must not fail: " + Explanation.of(e));
            e.printStackTrace();
            if (leads()) {
                stepDown("something has failed that must not fail");
                setback.suffered();
            }
        }
    }

    private static <T> CompletableFuture<T> asked(Supplier<CompletableFuture<T>> question) {
        try {
            return question.get();
        } catch (RuntimeException | Error e) {
            // As any other refusal: who asks waits for an end.
            return CompletableFuture.failedFuture(e);
        }
    }

    private <T> void whenDone(Supplier<CompletableFuture<T>> question, BiConsumer<T, Throwable> action) {
        asked(question).whenComplete((value, cause) -> execute(() -> action.accept(value,
                cause instanceof CompletionException e && e.getCause() != null ? e.getCause() : cause)));
    }

    // ------------------------------------------------------------------------------------------- who leads

    private boolean leads() {
        return role == Role.LEADING || role == Role.TAKING_OVER;
    }

    /** Raft has committed something. */
    private void changed(ClusterState to) {
        if (state != null && to.epoch() < state.epoch()) {
            return;
        }
        state = to;
        learn(to.epoch(), null);
    }

    /**
     * There is an epoch of this number. Whoever leads an earlier one does not any more.
     *
     * @param by the connection of the one who leads it; {@code null} if Raft says so
     */
    private void learn(long of, BrokerHandler by) {
        if (of <= epoch) {
            return;
        }
        epoch = of;
        if (leads()) {
            stepDown("epoch " + of + " has begun", by);
        } else if (leader != null) {
            leader.disconnect();
            leader = null;
            topics.partitions().forEach(Partition::follow);
        }
    }

    private void tick() {
        var leadsRaft = node.leadsRaft();
        switch (role) {
            case FOLLOWING -> {
                if (leadsRaft) {
                    claim(node.state());
                } else {
                    passed = 0;
                }
            }
            case CLAIMING, PASSING_ON -> { }
            case TAKING_OVER, LEADING -> {
                if (!leadsRaft) {
                    stepDown("this broker does not lead Raft any more");
                    return;
                }
                lease.renew(() -> asked(node::confirm), this::execute, () -> guarded(this::advance));
                if (role == Role.TAKING_OVER && topics.partitions().stream().allMatch(Partition::isCommitted)) {
                    role = Role.LEADING;
                    System.err.println("leads: " + inSync);
                }
            }
        }
    }

    private void claim(ClusterState from) {
        var others = new ArrayList<>(from.inSync());
        if (!others.remove(cluster.self().id())) {
            if (passed == 0) {
                System.err.println("is not in sync, and passes the leadership on to one of " + others);
            }
            passOn(others.get(passed++ % others.size()), () -> { });
            return;
        }
        if (setback.isFresh()) {
            var other = setback.next(others);
            if (other != null) {
                passOn(other, setback::wasTaken);
            }
            return;
        }
        role = Role.CLAIMING;
        whenDone(() -> node.submit(new ClusterCommand.Lead(cluster.self().id(), from.epoch())), (begun, cause) -> {
            role = Role.FOLLOWING;
            // Otherwise the next tick tries it again, if Raft is led by this broker still.
            if (cause == null) {
                changed(begun);
                if (epoch == begun.epoch()) {
                    takeOver(begun);
                }
            }
        });
    }

    /** Who is not there does not take it: the next tick asks another one. */
    private void passOn(String other, Runnable taken) {
        role = Role.PASSING_ON;
        whenDone(() -> node.passOn(other), (_, cause) -> {
            role = Role.FOLLOWING;
            if (cause == null) {
                taken.run();
            }
        });
    }

    private void takeOver(ClusterState begun) {
        inSync = new InSyncSet(begun, new InSyncSet.Owner() {
            @Override
            public CompletableFuture<ClusterState> submit(ClusterCommand command) {
                var done = new CompletableFuture<ClusterState>();
                whenDone(() -> node.submit(command), (after, cause) -> {
                    if (cause == null) {
                        done.complete(after);
                    } else {
                        done.completeExceptionally(cause);
                    }
                });
                return done;
            }

            @Override
            public void changed() {
                if (isOf(begun)) {
                    guarded(() -> {
                        require();
                        advance();
                    });
                }
            }

            @Override
            public void refused(Throwable cause) {
                if (isOf(begun)) {
                    stepDown("the cluster has not agreed to a change: " + Explanation.of(cause));
                }
            }
        });
        lease = new Lease(System::nanoTime);
        role = Role.TAKING_OVER;
        try {
            for (var topic : begun.topics().entrySet()) {
                topics.openTopic(topic.getKey(), topic.getValue(), loop);
            }
            for (var partition : topics.partitions()) {
                partition.lead(begun.epoch());
            }
        } catch (IOException | RuntimeException e) {
            cannotLead(e);
            return;
        }
        var agreement = new CommonEpochs(cluster.name(), begun.epoch(), loop, new Patience(settings.followerPatience()));
        for (var other : cluster.others()) {
            var follower = new Follower(transport, other.address(), loop, agreement.patience(), agreement, this);
            followers.put(other.id(), follower);
            started.removeIf(Follower::hasEnded);
            started.add(follower);
        }
        require();
        topics.replicateTo(List.copyOf(followers.values()));
        followers.values().forEach(Follower::start);
    }

    private boolean isOf(ClusterState begun) {
        return leads() && epoch == begun.epoch();
    }

    private void stepDown(String why) {
        stepDown(why, null);
    }

    /**
     * Nothing that is under way is acknowledged. Clients look for the new leader.
     *
     * @param successor the new leader's connection, which stays; {@code null} if there is none
     */
    private void stepDown(String why, BrokerHandler successor) {
        System.err.println("leads no more: " + why);
        role = Role.FOLLOWING;
        inSync = null;
        lease = null;
        required = null;
        followers.values().forEach(Follower::stop);
        followers.clear();
        // Each of them, whatever becomes of the others.
        guarded(() -> topics.replicateTo(List.of()));
        topics.partitions().forEach(partition -> guarded(() -> partition.follow()));
        List.copyOf(connections).stream().filter(connection -> connection != successor)
                .forEach(connection -> guarded(() -> connection.dismiss(notLeading())));
    }

    // ------------------------------------------------------------------------------------------- what is committed

    private void require() {
        required = inSync.counted(followers);
    }

    private void advance() {
        topics.partitions().forEach(partition -> partition.followers().advance());
    }

    @Override
    public boolean permits(Set<Follower> present) {
        // What a leader writes here is the leader's to commit.
        return !leads() || required != null && inSync.size() >= settings.minFollowers() && lease.isValid();
    }

    @Override
    public Collection<Follower> required(Set<Follower> present) {
        return leads() ? required : List.of();
    }

    @Override
    public void present(Follower follower) {
        if (leads() && topics.hasAll(follower)) {
            change(follower, InSyncSet::join);
        }
    }

    @Override
    public void lost(Follower follower) {
        change(follower, InSyncSet::leave);
    }

    private void change(Follower follower, BiConsumer<InSyncSet, String> change) {
        for (var one : Map.copyOf(followers).entrySet()) {
            if (one.getValue() == follower) {
                change.accept(inSync, one.getKey());
                if (leads()) {
                    require();
                }
            }
        }
    }

    @Override
    public int inSync(Topics ours) {
        // The cluster counts a broker from the beginning, also one that has not been reached yet, be it by the log or by Raft.
        return inSync == null ? 0 : (int) followers.entrySet().stream().filter(one -> inSync.stays(one.getKey())
                && ours.hasAll(one.getValue()) && node.hasTold(one.getKey())).count();
    }

    // ------------------------------------------------------------------------------------------- for connections

    void opened(BrokerHandler connection) {
        connections.add(connection);
    }

    void closed(BrokerHandler connection) {
        connections.remove(connection);
        if (leader == connection) {
            leader = null;
        }
    }

    /** Whether the leader writes over this connection. */
    boolean isLeader(BrokerHandler connection) {
        return leader == connection;
    }

    boolean isLeading() {
        return role == Role.LEADING;
    }

    /** As the answer to who asks. */
    String leaderAddress() {
        if (role == Role.LEADING) {
            return cluster.self().address().toString();
        }
        // It would say of itself that it leads.
        return leads() || state == null || state.epoch() < epoch || state.leader().equals(cluster.self().id()) ? ""
                : cluster.addressOf(state.leader());
    }

    long epoch() {
        return epoch;
    }

    String notLeading() {
        var address = leaderAddress();
        return "this broker does not lead. " + (address.isEmpty() ? "A leader is being chosen; ask again."
                : "The leader is " + address + ": connect to that.");
    }

    /** @return why somebody cannot lead; {@code null} if it can, and does from now on */
    String follow(BrokerHandler connection, long of, String name) {
        if (!name.equals(cluster.name())) {
            return "this broker is of cluster " + cluster.name() + ", and not of " + name;
        }
        if (of < epoch || of == epoch && leads()) {
            return "epoch " + of + " is over: this is " + epoch;
        }
        learn(of, connection);
        // An earlier connection of the same leader may not have ended yet.
        if (leader != null && leader != connection) {
            leader.disconnect();
        }
        leader = connection;
        topics.partitions().forEach(Partition::follow);
        return null;
    }

    /** Has the cluster agree to a new topic, and then makes it. */
    void makeTopic(String name, int partitions, BiConsumer<Topics.Topic, Throwable> done) {
        whenDone(() -> node.submit(new ClusterCommand.AddTopic(epoch, name, partitions)), (after, cause) -> {
            if (cause != null || !leads() || epoch != after.epoch()) {
                done.accept(null, cause);
                return;
            }
            var before = topics.partitions().size();
            Topics.Topic topic;
            try {
                topic = topics.openTopic(name, partitions, loop);
            } catch (IllegalArgumentException e) {
                done.accept(null, e);
                return;
            } catch (IOException e) {
                done.accept(null, e);
                // The cluster has it from now on, and others may be able to make it.
                cannotLead(e);
                return;
            }
            try {
                for (var one : List.copyOf(topics.partitions().subList(before, topics.partitions().size()))) {
                    one.lead(epoch);
                }
            } catch (IOException | RuntimeException e) {
                done.accept(null, e);
                // It is there from now on, and would be served in no epoch: no broker could tell its records from others.
                cannotLead(e);
                return;
            }
            done.accept(topic, null);
        });
    }

    private void cannotLead(Exception cause) {
        stepDown("its files are not as they have to be: " + Explanation.of(cause));
        setback.suffered();
    }

    /** For who looks for the reason of something. Any other thread may call. */
    String describe() throws InterruptedException {
        var asked = loop.submit(() -> role + " in epoch " + epoch + ", in sync: " + inSync + ", "
                + topics.partitions().stream().filter(one -> !one.isCommitted()).count() + " partitions are not committed, "
                + (leader == null ? "no leader" : "a leader") + " is connected; Raft says " + state);
        return (asked.await(ANSWER_SECONDS, TimeUnit.SECONDS) ? asked.isSuccess() ? asked.getNow() : asked.cause().toString()
                : "its event loop does not answer") + "; " + node;
    }

    /** Before the event loop ends. */
    void leave() {
        if (node != null) {
            node.close();
        }
    }

    /** When it has ended. */
    void close() {
        started.forEach(Follower::close);
    }
}
