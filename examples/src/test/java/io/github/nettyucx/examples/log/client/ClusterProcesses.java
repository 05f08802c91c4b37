// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.cluster.Node;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;

/** Three brokers that choose their leader, each a process with the agent: Raft's connections go over this transport, too. */
final class ClusterProcesses implements AutoCloseable {
    static final int BROKERS = 3;
    /** Until a leader is found; a machine that is busy with other things takes its time. */
    static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final String NAME = "test";
    private static final long TRANSFER_MILLIS = 10_000;
    private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();

    private final Path root;
    private final List<HostAndPort> addresses = new ArrayList<>();
    private final String nodes;
    private final String[] more;
    private final BrokerProcess[] brokers = new BrokerProcess[BROKERS];

    /**
     * @param root where their directories are, or will be
     * @param more arguments of each
     */
    ClusterProcesses(Path root, SplittableRandom random, String... more) throws Exception {
        this(BROKERS, root, random, more);
    }

    /** @param running how many of them are started; the others are to be, later */
    ClusterProcesses(int running, Path root, SplittableRandom random, String... more) throws Exception {
        this.root = root;
        this.more = more;
        var raftPorts = new ArrayList<Integer>();
        for (var i = 0; i < BROKERS; i++) {
            addresses.add(new HostAndPort("127.0.0.1", FreePort.take(random)));
            raftPorts.add(FreePort.take(random));
        }
        nodes = addresses.stream().map(address -> address + "/" + raftPorts.get(addresses.indexOf(address)))
                .collect(Collectors.joining(","));
        // At the same time: each takes its time.
        var starting = IntStream.range(0, running).mapToObj(i -> CompletableFuture.runAsync(() -> {
            try {
                start(i);
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        })).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(starting).join();
        } catch (CompletionException e) {
            close();
            throw e;
        }
    }

    private static Path agent() throws IOException {
        var directory = ROOT.resolve("agent/target");
        if (Files.isDirectory(directory)) {
            try (var jars = Files.newDirectoryStream(directory, "netty-ucx-agent-*.jar")) {
                for (var jar : jars) {
                    if (!jar.toString().endsWith("-sources.jar") && !jar.toString().endsWith("-javadoc.jar")) {
                        return jar;
                    }
                }
            }
        }
        return fail("this test needs the agent's jar, and there is none in " + directory + ". 'mvn verify' builds it before "
                + "the examples; 'mvn -pl agent -am -DskipTests package' builds it by itself.");
    }

    /** @param special arguments of this one */
    void start(int number, String... special) throws Exception {
        launch(number, nodes, special);
    }

    /** With a Raft server where the others do not look for it. */
    void startApart(int number, SplittableRandom random) throws Exception {
        var all = nodes.split(",");
        all[number] = addresses.get(number) + "/" + FreePort.take(random);
        launch(number, String.join(",", all));
    }

    private void launch(int number, String nodes, String... special) throws Exception {
        var arguments = new ArrayList<>(List.of("--cluster", NAME, "--nodes", nodes));
        arguments.addAll(Arrays.asList(more));
        arguments.addAll(Arrays.asList(special));
        brokers[number] = BrokerProcess.start("broker " + number, List.of("-javaagent:" + agent() + "=report", "-Xmx384m",
                // A leader that gets no processor for two seconds, as on a busy machine, is not to be replaced for that.
                "-Dio.github.nettyucx.examples.electionMillis=3000",
                // A client may be slow on a machine that is busy.
                "-Dio.github.nettyucx.plainGraceMillis=3000",
                // They do not live long.
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"), addresses.get(number), directory(number), arguments.toArray(String[]::new));
    }

    Path directory(int number) {
        return root.resolve("broker" + number);
    }

    BrokerProcess broker(int number) {
        return brokers[number];
    }

    List<HostAndPort> addresses() {
        return addresses;
    }

    HostAndPort address(int number) {
        return addresses.get(number);
    }

    int number(HostAndPort address) {
        return addresses.indexOf(address);
    }

    /** By SIGKILL. */
    void kill(int number) throws Exception {
        brokers[number].kill();
    }

    /** Has a broker lead Raft, if it can. */
    void leadRaft(int number) throws Exception {
        var peers = Arrays.stream(nodes.split(",")).map(Node::parse).map(node -> RaftPeer.newBuilder().setId(node.id())
                .setAddress(node.address().host() + ":" + node.raftPort()).build()).toList();
        var group = RaftGroup.valueOf(RaftGroupId.valueOf(UUID.nameUUIDFromBytes(NAME.getBytes(StandardCharsets.UTF_8))),
                peers);
        try (var client = RaftClient.newBuilder().setRaftGroup(group).setProperties(new RaftProperties()).build()) {
            var reply = client.admin().transferLeadership(peers.get(number).getId(), TRANSFER_MILLIS);
            assertTrue(reply.isSuccess(), () -> reply + "; they say: " + errors());
        }
    }

    LeaderConnection connect() {
        return new LeaderConnection(TransportKind.UCX, addresses, PATIENCE);
    }

    interface Action {
        void on(LogConnection connection) throws Exception;
    }

    /** Once more with the next leader, if the one that there was leads no more, as happens when the machine is busy. */
    static void withLeader(LeaderConnection leader, Action action) throws Exception {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            var connection = leader.get();
            try {
                action.on(connection);
                return;
            } catch (AssertionError e) {
                // It says that it does not lead any more, and then closes the connection.
                var isLeading = connection.isOpen()
                        && !(e.getCause() instanceof BrokerException refusal && refusal.code() == ErrorCode.NOT_LEADER);
                if (isLeading || System.nanoTime() > deadline) {
                    throw e;
                }
                System.out.println("the leader has ended by itself: " + e.getMessage());
                leader.close();
            }
        }
    }

    /** Until the leader counts so many followers. */
    void awaitInSync(LogConnection leader, int followers) throws Exception {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        for (int found; (found = LogFixture.await(leader.statistics()).followersInSync()) != followers;) {
            var now = found;
            assertTrue(System.nanoTime() < deadline, () -> now + " of " + followers + " followers are in sync; they say: "
                    + errors());
            // Between two looks: the brokers need the processor.
            Thread.sleep(10);
        }
    }

    /** All have an orderly end. @return what each has said last */
    List<String> stop() throws Exception {
        var said = new ArrayList<String>();
        for (var broker : brokers) {
            broker.stop();
            said.add(String.join("\n", broker.errors()));
        }
        return said;
    }

    /** What a broker that has ended has in its files of one partition: payloads, in the order of their offsets. */
    List<byte[]> files(int number, String topic, int partition) throws IOException {
        var payloads = new ArrayList<byte[]>();
        try (var log = PartitionLog.open(directory(number).resolve(topic).resolve(Integer.toString(partition)), 64 << 10,
                Durability.PAGE_CACHE)) {
            for (var segment : log.segments()) {
                var bytes = ByteBuffer.allocate(segment.size());
                segment.read(bytes, 0);
                for (int at = 0, length; at < segment.size(); at += length) {
                    length = Records.check(bytes, at, segment.size());
                    assertTrue(length > 0, segment.path() + " at " + at);
                    payloads.add(Arrays.copyOfRange(bytes.array(), at + Records.HEADER, at + length));
                }
            }
        }
        return payloads;
    }

    @Override
    public void close() {
        for (var broker : brokers) {
            if (broker != null) {
                broker.close();
            }
        }
    }

    /** What each has said last on standard error. */
    List<String> errors() {
        return errors(IntStream.range(0, BROKERS).toArray());
    }

    /** For who reads why a test has failed: what the brokers have said, what they are about, and what their threads do. */
    void explain() {
        for (var i = 0; i < BROKERS && brokers[i] != null; i++) {
            try {
                System.out.println("broker " + i + " at " + addresses.get(i) + " says: " + brokers[i].describe());
            } catch (Exception e) {
                System.out.println("broker " + i + " does not say how things are: " + e);
            }
        }
    }

    private List<String> errors(int... numbers) {
        return Arrays.stream(numbers).filter(i -> brokers[i] != null)
                .mapToObj(i -> "\n" + i + ": " + String.join("\n   ", brokers[i].errors())).toList();
    }

    /** Until one of these has said something. */
    void awaitErrors(String text, int... numbers) throws Exception {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (Arrays.stream(numbers).noneMatch(i -> String.join("\n", brokers[i].errors()).contains(text))) {
            assertTrue(System.nanoTime() < deadline, () -> "they say only: " + errors(numbers));
            // Between two looks: another thread reads what it says.
            Thread.sleep(1);
        }
    }
}
