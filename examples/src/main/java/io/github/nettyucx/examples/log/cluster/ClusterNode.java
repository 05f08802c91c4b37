// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.log.cluster.ClusterState.RejectedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** This broker's Raft server, by Apache Ratis. Any thread may call. */
public final class ClusterNode implements AutoCloseable {
    /**
     * A leader of Raft that is not heard of for so long is replaced. More than the usual 150 ms: a broker whose process gets
     * no processor for a while is not to be. Tests, which share their processors with others, have brokers wait longer.
     */
    public static final Duration ELECTION_TIMEOUT = Duration.ofMillis(
            Long.getLong("io.github.nettyucx.examples.electionMillis", 1500));

    /** No name of a topic. */
    private static final String STORAGE = "cluster.raft";
    private static final long TRANSFER_MILLIS = 3000;
    private static final long CLOSE_DAYS = 365;
    /** Ratis waits for streams to the others without a bound, whether or not those take anything. */
    private static final long CLOSE_SECONDS = 5;
    private static final String LOG_SIZE = "64KB";
    private static final String SEGMENT_SIZE = "1MB";

    private final RaftGroupId group;
    private final RaftServer server;
    private final ClusterStateMachine machine;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong lastCall = new AtomicLong();

    private ClusterNode(RaftGroupId group, RaftServer server, ClusterStateMachine machine) {
        this.group = group;
        this.server = server;
        this.machine = machine;
    }

    /**
     * @param directory the broker's
     * @param changed is called for each change of the state, by one of Raft's threads at a time
     * @throws ExampleFailure saying why, if the server cannot be started
     */
    public static ClusterNode start(ClusterSettings settings, Path directory, Consumer<ClusterState> changed) {
        var storage = directory.resolve(STORAGE);
        var id = RaftGroupId.valueOf(UUID.nameUUIDFromBytes(settings.name().getBytes(StandardCharsets.UTF_8)));
        var machine = new ClusterStateMachine(settings.initialState(), changed);
        try {
            var server = RaftServer.newBuilder()
                    .setServerId(RaftPeerId.valueOf(settings.self().id()))
                    .setGroup(RaftGroup.valueOf(id, settings.nodes().stream().map(ClusterNode::peer).toList()))
                    .setProperties(properties(settings.self(), storage))
                    .setStateMachine(machine)
                    .setOption(Files.exists(storage.resolve(id.getUuid().toString())) ? StartupOption.RECOVER
                            : StartupOption.FORMAT)
                    .build();
            server.start();
            return new ClusterNode(id, server, machine);
        } catch (IOException e) {
            throw new ExampleFailure("cannot start the Raft server of " + settings.self() + " on its files in " + storage
                    + ": " + Explanation.of(e), e);
        }
    }

    /** As the other brokers reach its Raft server. */
    static RaftPeer peer(Node node) {
        // By that an IPv6 address stands in brackets.
        var address = new HostAndPort(node.address().host(), node.raftPort());
        return RaftPeer.newBuilder().setId(node.id()).setAddress(address.toString()).build();
    }

    private static RaftProperties properties(Node self, Path storage) {
        var properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
        GrpcConfigKeys.Server.setHost(properties, self.address().host());
        GrpcConfigKeys.Server.setPort(properties, self.raftPort());
        RaftServerConfigKeys.setStorageDir(properties, List.of(storage.toFile()));
        RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf(LOG_SIZE));
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(SEGMENT_SIZE));
        var least = TimeDuration.valueOf(ELECTION_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, least);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, least.multiply(2));
        // A query is answered when the majority has confirmed that this server leads.
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
        // By default a server that was stopped for a minute closes itself when it goes on.
        RaftServerConfigKeys.setCloseThreshold(properties, TimeDuration.valueOf(CLOSE_DAYS, TimeUnit.DAYS));
        return properties;
    }

    /** As far as this broker knows it. */
    public ClusterState state() {
        return machine.state();
    }

    /** Whether this broker leads Raft, as far as it knows, and then it knows the whole state. */
    public boolean leadsRaft() {
        try {
            var info = server.getDivision(group).getInfo();
            return info.isAlive() && info.isLeader() && info.isLeaderReady();
        } catch (IOException e) {
            // It has been closed.
            return false;
        }
    }

    /**
     * Whether a broker has something of Raft's log, as far as this one knows, which leads Raft. Without that its vote does not
     * count: Ratis takes a server that has nothing for one that has lost its files, once something has been committed.
     */
    public boolean hasTold(String node) {
        try {
            return server.getDivision(group).getCommitInfos().stream()
                    .anyMatch(info -> info.getServer().getId().toStringUtf8().equals(node)
                            && info.getCommitIndex() >= RaftLog.LEAST_VALID_LOG_INDEX);
        } catch (IOException e) {
            // It has been closed.
            return false;
        }
    }

    /**
     * Has a command committed. Only the leader of Raft can.
     *
     * @return the state behind the command; or why it is rejected, a {@link RejectedException}, or was not committed. In the
     *         second case it may still be, by another leader of Raft
     */
    public CompletableFuture<ClusterState> submit(ClusterCommand command) {
        return ask(Message.valueOf(ByteString.copyFrom(command.toBytes())), RaftClientRequest.writeRequestType())
                .thenApply(reply -> {
                    try {
                        return ClusterStateMachine.accepted(reply.getMessage().getContent());
                    } catch (IOException | RejectedException e) {
                        throw new CompletionException(e);
                    }
                });
    }

    /** Done when a majority has confirmed, after this call, that this broker leads Raft. */
    public CompletableFuture<Void> confirm() {
        return ask(Message.EMPTY, RaftClientRequest.readRequestType()).thenAccept(_ -> { });
    }

    /** Has another broker lead Raft. */
    public CompletableFuture<Void> passOn(String node) {
        try {
            return server.transferLeadershipAsync(new TransferLeadershipRequest(client, server.getId(), group,
                    lastCall.incrementAndGet(), RaftPeerId.valueOf(node), TRANSFER_MILLIS)).thenApply(ClusterNode::succeeded)
                    .thenAccept(_ -> { });
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<RaftClientReply> ask(Message message, RaftClientRequest.Type type) {
        try {
            return server.submitClientRequestAsync(RaftClientRequest.newBuilder().setClientId(client)
                    .setServerId(server.getId()).setGroupId(group).setCallId(lastCall.incrementAndGet()).setMessage(message)
                    .setType(type).build()).thenApply(ClusterNode::succeeded);
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static RaftClientReply succeeded(RaftClientReply reply) {
        if (!reply.isSuccess()) {
            throw new CompletionException(reply.getException());
        }
        return reply;
    }

    /** Role, term, leader, vote and log, as Ratis writes them; for who looks for the reason of something. */
    @Override
    public String toString() {
        try {
            return server.getDivision(group).toString();
        } catch (IOException e) {
            return "a Raft server that has been closed";
        }
    }

    /** Within {@value #CLOSE_SECONDS} s: what Raft has agreed to is in its files already. */
    @Override
    public void close() {
        var closing = Thread.ofPlatform().daemon().name("close-raft").start(() -> {
            try {
                server.close();
            } catch (IOException e) {
                System.err.println("the Raft server was not closed: " + Explanation.of(e));
            }
        });
        try {
            if (!closing.join(Duration.ofSeconds(CLOSE_SECONDS))) {
                System.err.println("the Raft server has not ended within " + CLOSE_SECONDS + " s: others of the cluster take"
                        + " nothing. It ends with this process.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
