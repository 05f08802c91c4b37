// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.TimeDuration;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * Replicated entries by Apache Ratis: {@code server RPC ID PORTS DIRECTORY [MILLIS]}, {@code client RPC PORTS ENTRIES PAUSE}
 * or {@code measure RPC PORTS MILLIS MILLIS}, with Ratis's name of its RPC, {@code GRPC} or {@code NETTY}. Ports are those of
 * all servers, each with {@code @} and its priority if it has one. A server tells when it leads. It stands for election when it
 * has heard of no leader for MILLIS, or up to twice as long. The client writes the entries, tells who leads after PAUSE of
 * them, waits for a line before it writes the last half of the others, reads all of them back, and tells what it was told to be
 * written and what is there. One that measures writes and reads for a while that does not count, and for another that does.
 * Knows nothing of the agent.
 */
public final class RatisApplication {

    private static final RaftGroupId GROUP = RaftGroupId.valueOf(UUID.fromString("02511d47-d67c-49a3-9011-abb3109a44c1"));
    private static final int ENTRY = 200;
    /** So many requests at most wait for their answers. */
    static final int OUTSTANDING = 64;
    private static final int SECONDS = 90;
    /** Whoever waits for the end sees that it goes on. */
    private static final int PROGRESS = 1_000;
    /** More than the usual 150 ms to 300 ms: a follower whose process gets no processor for a while is not to stand. */
    static final int ELECTION_MILLIS = 1_000;

    private RatisApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        SupportedRpcType rpc = SupportedRpcType.valueOf(arguments[1]);
        if (arguments[0].equals("server")) {
            serve(rpc, Integer.parseInt(arguments[2]), arguments[3], new File(arguments[4]),
                    arguments.length > 5 ? Integer.parseInt(arguments[5]) : ELECTION_MILLIS);
        } else if (arguments[0].equals("measure")) {
            measure(rpc, arguments[2], Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
        } else {
            exercise(rpc, arguments[2], Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
        }
    }

    private static RaftGroup group(String ports) {
        List<RaftPeer> peers = new ArrayList<>();
        for (String port : ports.split(",")) {
            String[] portAndPriority = port.split("@");
            peers.add(RaftPeer.newBuilder().setId("n" + peers.size()).setAddress("127.0.0.1:" + portAndPriority[0])
                    .setPriority(portAndPriority.length > 1 ? Integer.parseInt(portAndPriority[1]) : 0).build());
        }
        return RaftGroup.valueOf(GROUP, peers);
    }

    private static RaftProperties properties(SupportedRpcType rpc) {
        RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, rpc);
        return properties;
    }

    private static void serve(SupportedRpcType rpc, int id, String ports, File directory, int electionMillis)
            throws Exception {
        RaftProperties properties = properties(rpc);
        RaftServerConfigKeys.setStorageDir(properties, List.of(directory));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(electionMillis, TimeUnit.MILLISECONDS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties,
                TimeDuration.valueOf(2 * electionMillis, TimeUnit.MILLISECONDS));
        int port = Integer.parseInt(ports.split(",")[id].split("@")[0]);
        GrpcConfigKeys.Server.setPort(properties, port);
        NettyConfigKeys.Server.setPort(properties, port);
        RaftGroup group = group(ports);
        RatisEntries entries = new RatisEntries();
        RaftServer server = RaftServer.newBuilder().setGroup(group).setProperties(properties)
                .setServerId(List.copyOf(group.getPeers()).stream()
                        .filter(peer -> peer.getId().toString().equals("n" + id)).findFirst().orElseThrow().getId())
                .setStateMachine(entries).build();
        server.start();
        System.out.println("serving n" + id);
        entries.leading().thenRun(() -> System.out.println("leading n" + id));
        System.in.read();
        server.close();
        System.out.println("server done");
    }

    // ------------------------------------------------------------------------------------------- client

    private static ByteString entry(int number) {
        byte[] bytes = new byte[ENTRY];
        new Random(number).nextBytes(bytes);
        return ByteString.copyFrom(ByteBuffer.wrap(bytes).putInt(number).rewind());
    }

    /** A leader that is killed after PAUSE entries has nothing unanswered but some of the next ones. */
    private static boolean isAtTheSeam(int number, int pause) {
        return number > pause && number <= pause + 4 * OUTSTANDING;
    }

    private static boolean hasLine() {
        try {
            return System.in.read() >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void exercise(SupportedRpcType rpc, String ports, int entries, int pause) throws Exception {
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties(rpc)).setRaftGroup(group(ports)).build()) {
            BitSet acknowledged = new BitSet(entries);
            List<RaftPeerId> leaders = new ArrayList<>();
            LongAccumulator slowest = new LongAccumulator(Math::max, 0);
            LongAccumulator slowestElsewhere = new LongAccumulator(Math::max, 0);
            int allowed = (pause + entries) / 2;
            long longest = each("writes", 0, number -> number < entries && (number != allowed || hasLine()), number -> client.async().send(Message.valueOf(entry(number))),
                    (number, reply, millis) -> {
                        acknowledged.set(number);
                        slowest.accumulate(millis);
                        if (!isAtTheSeam(number, pause)) {
                            slowestElsewhere.accumulate(millis);
                        }
                        if (leaders.isEmpty() || !leaders.getLast().equals(reply.getServerId())) {
                            leaders.add(reply.getServerId());
                        }
                        if (number == pause) {
                            System.out.println("leader " + reply.getServerId());
                        }
                    }).longest;
            System.out.println("longest wait millis " + TimeUnit.NANOSECONDS.toMillis(longest));
            System.out.println("answered by " + leaders.size() + " in turn, the slowest in " + slowest + " ms, elsewhere in "
                    + slowestElsewhere + " ms");
            System.out.println(check(client, entries, acknowledged));
        }
        System.out.println("client done");
    }

    private interface Answered {
        void answered(int number, RaftClientReply reply, long millis);
    }

    /**
     * What some requests have come to.
     *
     * @param next    the first number for which there was none
     * @param longest time in nanoseconds in which none was answered
     */
    private record Requests(int next, long perSecond, long longest) {
    }

    /**
     * One request for each number, some of them at the same time.
     *
     * @param goesOn   asked before each number
     * @param answered called for each success, by one thread at a time
     */
    private static Requests each(String what, int first, IntPredicate goesOn,
                                 IntFunction<CompletableFuture<RaftClientReply>> request, Answered answered)
            throws InterruptedException {
        long start = System.nanoTime();
        long longest = 0;
        AtomicInteger failed = new AtomicInteger();
        Semaphore outstanding = new Semaphore(OUTSTANDING);
        int number = first;
        for (; goesOn.test(number); number++) {
            long before = System.nanoTime();
            outstanding.acquire();
            longest = Math.max(longest, System.nanoTime() - before);
            if (number % PROGRESS == 0) {
                System.out.println(what + " so far " + number);
            }
            int sent = number;
            long sentAt = System.nanoTime();
            request.apply(number).whenComplete((reply, cause) -> {
                if (cause == null && reply.isSuccess()) {
                    synchronized (failed) {
                        answered.answered(sent, reply, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sentAt));
                    }
                } else {
                    failed.incrementAndGet();
                }
                outstanding.release();
            });
        }
        if (!outstanding.tryAcquire(OUTSTANDING, SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(what + " are not answered");
        }
        long perSecond = (number - first) * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
        System.out.println(what + " per second " + perSecond);
        if (failed.get() > 0) {
            throw new IllegalStateException(failed + " " + what + " have failed");
        }
        return new Requests(number, perSecond, longest);
    }

    // ------------------------------------------------------------------------------------------- how fast

    private static void measure(SupportedRpcType rpc, String ports, int unmeasuredMillis, int millis) throws Exception {
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties(rpc)).setRaftGroup(group(ports)).build()) {
            int entries = measure(client, 0, unmeasuredMillis, "unmeasured");
            measure(client, entries, millis, "measured");
        }
        System.out.println("client done");
    }

    /** Writes for that long, and reads for that long what there is. @return how many entries there are then */
    private static int measure(RaftClient client, int entries, int millis, String what) throws Exception {
        Requests writes = each("writes", entries, lasts(millis), number -> client.async().send(Message.valueOf(entry(number))),
                (_, _, _) -> { });
        Requests reads = each("reads", 0, lasts(millis),
                number -> client.async().sendReadOnly(RatisEntries.request(number % writes.next)), (_, _, _) -> { });
        System.out.println(what + " " + writes.perSecond + " " + reads.perSecond);
        return writes.next;
    }

    private static IntPredicate lasts(int millis) {
        long start = System.nanoTime();
        return _ -> System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(millis);
    }

    // ------------------------------------------------------------------------------------------- what is there

    /** @return what was acknowledged and is there, and a digest of it in the order of its numbers */
    private static String check(RaftClient client, int entries, BitSet acknowledged) throws Exception {
        RatisEntries.Summary summary = RatisEntries.Summary.of(
                client.io().sendReadOnly(RatisEntries.summaryRequest()).getMessage().getContent());
        System.out.println("order displaced " + summary.displaced() + " after " + summary.breakAfter() + " with "
                + summary.breakWith() + " until " + summary.breakUntil());
        ByteString[] found = new ByteString[entries];
        each("reads", 0, number -> number < entries, number -> client.async().sendReadOnly(RatisEntries.request(number)),
                (number, reply, _) -> found[number] = reply.getMessage().getContent());
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        int lost = 0;
        for (int number = 0; number < entries; number++) {
            lost += acknowledged.get(number) && !entry(number).equals(found[number]) ? 1 : 0;
            digest.update(found[number].asReadOnlyByteBuffer());
        }
        return String.format(Locale.ROOT, "acknowledged %d lost %d written twice %d digest %s", acknowledged.cardinality(),
                lost, summary.twice(), HexFormat.of().formatHex(digest.digest()));
    }
}
