// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.ProtocolException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Clients that break the protocol lose their connection, and nobody else does. On a link: on lane socket there are no
 * messages to forge, and what strangers do to the handshake is the matter of {@link PortAttackTest}.
 */
class ProtocolAttackTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int FEW = 10;
    /** {@code -Dio.github.nettyucx.test.many} takes another number. */
    private static final int MANY = Integer.getInteger("io.github.nettyucx.test.many", 500);
    private static final int WINDOW = 4096;
    private static final int MAX_MESSAGE = WINDOW / 4;
    private static final int TIMEOUT_MILLIS = 300;
    private static final int SECONDS = 15;
    private static final int FORGED = 100;
    /**
     * By how much the C library's heap may grow with each connection, and how much is left to UCX's pools and the JVM's
     * compiler, which is more than few connections could leave behind: so only many are judged by it.
     */
    private static final long HEAP_PER_CONNECTION = 512;
    private static final long HEAP_TOLERANCE = 14L * 1024 * 1024;

    private enum Attack {
        NO_HELLO(null),
        WRONG_HELLO(null),
        /** The link is made on both sides, and that is all. */
        NO_GO(null),
        BYTES_ON_THE_SOCKET("the peer sent bytes on the control socket after the handshake; expected none"),
        UNKNOWN_TYPE("the peer sent a message of unknown type 15"),
        HUGE_MESSAGE("the peer sent a message of 900000 bytes; expected 1 to " + MAX_MESSAGE),
        EMPTY_MESSAGE("the peer sent a message of 0 bytes; expected 1 to " + MAX_MESSAGE),
        OVERRUN("bytes more than its credit allows"),
        LOST_MESSAGE("messages of the peer's stream are missing"),
        LOST_AT_THE_END("messages of the peer's stream are missing at its end"),
        TOO_MUCH_CREDIT("the peer granted 10000000 bytes, more than its window has"),
        CREDIT_WITH_BYTES("the peer sent 10 bytes with a message of type 2; expected none"),
        FIN_TWICE("the peer ended its stream twice"),
        DATA_AFTER_FIN("the peer sent data after the end of its stream"),
        ACKNOWLEDGED_NOTHING("the peer acknowledged an end of stream that was not sent"),
        REQUEST_TOO_SHORT("the peer sent a request of 10 bytes; expected 40 to 256"),
        REQUEST_OF_NO_KIND("the peer sent a request of unknown kind 0"),
        PUT_WITHOUT_REQUEST("the peer sent bytes of a put that it has not requested"),
        ANSWER_TO_NOTHING("the peer answered operation 3, which is not under way"),
        MEMORY_NOT_ASKED_FOR("the peer answered operation 3, which is not under way"),
        REVOKED_WITH_BYTES("the peer sent 10 bytes with a message of type 9; expected none"),
        /** Many of them, to whom it may concern. */
        OTHERS_CHANNELS(null),
        /** In the middle of a message. */
        GONE(null);

        /** What the application is told. */
        final String message;

        Attack(String message) {
            this.message = message;
        }
    }

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final BlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
    private final AtomicInteger active = new AtomicInteger();
    /** The last one. */
    private volatile Channel attacked;
    /** Where nobody is waited for. */
    private InetSocketAddress impatient;
    private LeakWatch leaks;
    private Peers peers;

    @BeforeEach
    void startLoops() {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
        leaks.assertNothingLeft();
    }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(linksOnly = true, timeoutSeconds = 180)
    void aFewViolationsOfEachKind() throws Exception {
        attack(FEW);
    }

    @Tag("faults")
    @OnEachLane(linksOnly = true, timeoutSeconds = 1800)
    void manyViolationsOfEachKind() throws Exception {
        attack(MANY);
    }

    private void attack(int times) throws Exception {
        // Nobody reads there: so credit is not granted again.
        ServerBootstrap bootstrap = peers.server(Victim::new)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(ChannelOption.AUTO_READ, false)
                // Otherwise the first FIN would close the channel, and nobody would be told of a second.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE);
        Channel server = peers.listen(bootstrap);
        impatient = peers.listen(bootstrap.clone()
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS)).localAddress();
        Channel serving = peers.listen(Customers.Clerk::new);
        Customers customers = new Customers(peers, serving);
        try (customers; ForgingPeer peer = new ForgingPeer()) {
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            // Pools fill, code is compiled.
            round(FEW, peer, address);
            long heap = times == MANY ? NativeHeap.settled(Long.MIN_VALUE) : 0;
            round(times, peer, address);
            awaitChannels(server);
            System.out.println("seed " + SEED + ": " + customers);
            if (times == MANY) {
                long most = HEAP_TOLERANCE + HEAP_PER_CONNECTION * times * Attack.values().length;
                long growth = NativeHeap.settled(heap + most) - heap;
                System.out.println("growth of the native heap: " + growth + " bytes");
                assertTrue(growth <= most, () -> "growth of the native heap in bytes: " + growth);
            }
        }
        // One link of the customers, and one of the attacker; what has gone is closed in turns of its own.
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "two endpoints, but " + metrics().endpoints(),
                () -> metrics().endpoints() <= 2);
        OperationWatch.assertNothingInFlight(TimeUnit.SECONDS.toMillis(SECONDS), peers.serverGroup);
        leaks.awaitNoBuffers();
    }

    private UcxMetrics metrics() {
        return TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
    }

    private void round(int times, ForgingPeer peer, InetSocketAddress address) throws Exception {
        for (Attack attack : Attack.values()) {
            long slowest = 0;
            for (int i = 0; i < times; i++) {
                long start = System.nanoTime();
                attack(attack, peer, address);
                slowest = Math.max(slowest, System.nanoTime() - start);
            }
            System.out.println("seed " + SEED + ", " + times + " × " + attack + ": over after "
                    + slowest / 1_000_000 + " ms at most");
        }
    }

    private void attack(Attack attack, ForgingPeer peer, InetSocketAddress address) throws Exception {
        told.clear();
        peer.connect(attack == Attack.NO_HELLO ? impatient : address);
        switch (attack) {
            case NO_HELLO -> peer.awaitEnd();
            case WRONG_HELLO -> {
                byte[] junk = new byte[64];
                random.nextBytes(junk);
                peer.say(junk);
                peer.awaitEnd();
            }
            case GONE -> {
                greet(peer);
                peer.send(ForgingPeer.DATA, 0, MAX_MESSAGE);
            }
            case NO_GO -> peer.greetUpToGo();
            case OTHERS_CHANNELS -> {
                long before = metrics().messagesForUnknownChannels();
                // Else the next attack could take this channel, which becomes active late, for its own.
                greet(peer);
                for (int i = 0; i < FORGED; i++) {
                    peer.send(random.nextInt(), random.nextInt(16), random.nextInt(1 << 28), random.nextInt(2000));
                }
                peer.until(() -> metrics().messagesForUnknownChannels() >= before + FORGED, "they are not counted");
            }
            default -> {
                // A message that overtakes GO would end the handshake, of which the application is not told.
                greet(peer);
                violate(attack, peer);
                awaitTaken(peer);
                // What was in order is kept for an application that reads when it likes; then it is told.
                attacked.config().setAutoRead(true);
                peer.awaitEnd();
                Throwable reason = awaitViolation();
                assertTrue(reason.getMessage().contains(attack.message), () -> attack + ": " + reason.getMessage());
            }
        }
        peer.hangUp();
        if (attack == Attack.GONE) {
            attacked.config().setAutoRead(true);
        }
    }

    private void greet(ForgingPeer peer) throws IOException {
        int before = active.get();
        peer.greet();
        peer.until(() -> active.get() > before, "the server's channel does not become active");
    }

    /** Everything that was sent has been taken when what was sent behind it has. */
    private void awaitTaken(ForgingPeer peer) {
        long before = metrics().messagesForUnknownChannels();
        peer.send(0, ForgingPeer.DATA, 0, 1);
        peer.until(() -> metrics().messagesForUnknownChannels() > before, "the server takes nothing");
    }

    /** Of an earlier attack's end the application may still be told, as of any reset. */
    private Throwable awaitViolation() throws InterruptedException {
        for (Throwable reason = told.poll(SECONDS, TimeUnit.SECONDS); reason != null;
                reason = told.poll(SECONDS, TimeUnit.SECONDS)) {
            if (reason instanceof ProtocolException) {
                return reason;
            }
        }
        throw new AssertionError("the application is not told of a violation");
    }

    private static void violate(Attack attack, ForgingPeer peer) throws IOException {
        switch (attack) {
            case BYTES_ON_THE_SOCKET -> peer.say(new byte[] {'x'});
            case UNKNOWN_TYPE -> peer.send(15, 0, 0);
            case HUGE_MESSAGE -> peer.send(ForgingPeer.DATA, 0, 900_000);
            case EMPTY_MESSAGE -> peer.send(ForgingPeer.DATA, 0, 0);
            case OVERRUN -> {
                for (int sent = 0; sent <= WINDOW; sent += MAX_MESSAGE) {
                    peer.send(ForgingPeer.DATA, 0, MAX_MESSAGE);
                }
            }
            case LOST_MESSAGE -> {
                peer.lose();
                peer.send(ForgingPeer.DATA, 0, 1);
            }
            case LOST_AT_THE_END -> {
                peer.lose();
                peer.send(ForgingPeer.FIN, 0, 0);
            }
            case TOO_MUCH_CREDIT -> peer.send(ForgingPeer.CREDIT, 10_000_000, 0);
            case CREDIT_WITH_BYTES -> peer.send(ForgingPeer.CREDIT, 1, 10);
            case FIN_TWICE -> {
                peer.send(ForgingPeer.FIN, 0, 0);
                peer.send(ForgingPeer.FIN, 0, 0);
            }
            case DATA_AFTER_FIN -> {
                peer.send(ForgingPeer.DATA, 0, 1);
                peer.send(ForgingPeer.FIN, 0, 0);
                peer.send(ForgingPeer.DATA, 0, 1);
            }
            case ACKNOWLEDGED_NOTHING -> peer.send(ForgingPeer.FIN_ACK, 0, 0);
            case REQUEST_TOO_SHORT -> peer.send(ForgingPeer.MEMORY_REQUEST, 0, 10);
            case REQUEST_OF_NO_KIND -> peer.send(ForgingPeer.MEMORY_REQUEST, 0, 40);
            case PUT_WITHOUT_REQUEST -> peer.send(ForgingPeer.MEMORY_PUT, 0, 100_000);
            case ANSWER_TO_NOTHING -> peer.send(ForgingPeer.MEMORY_ANSWER, 3, 0);
            case MEMORY_NOT_ASKED_FOR -> peer.send(ForgingPeer.MEMORY_GET, 3, 100_000);
            case REVOKED_WITH_BYTES -> peer.send(ForgingPeer.MEMORY_REVOKED, 0, 10);
            default -> throw new AssertionError(attack);
        }
    }

    private final class Victim extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext context) {
            UcxSocketChannel channel = (UcxSocketChannel) context.channel();
            // One whose attacker has not come so far as to have a connection is active as well, for a moment.
            if (!channel.transports().isEmpty()) {
                attacked = channel;
                active.incrementAndGet();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            told.add(cause);
        }
    }

    /** Those of the attackers go; the customers', and the three servers, stay. */
    private void awaitChannels(Channel server) throws Exception {
        EventLoop loop = server.eventLoop();
        int most = 3 + Customers.STAYING + 1;
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "channels are left",
                () -> loop.submit(() -> TestLoops.driver(loop).channelCount()).get() <= most);
    }
}
