// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.ClientHandshake;
import io.github.nettyucx.handshake.Handshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkRequest;
import io.github.nettyucx.handshake.Nearness;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.ucp.UcpConfig;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A client that knows the protocol and does not keep to it. Its handshake is the real one; the messages on its link are
 * its own. It makes one connection after the other to one server, over one link, on the test's thread.
 */
final class ForgingPeer implements AutoCloseable, Handshake.Owner {

    static final int DATA = 1;
    static final int CREDIT = 2;
    static final int FIN = 3;
    static final int FIN_ACK = 4;
    static final int MEMORY_REQUEST = 5;
    static final int MEMORY_PUT = 6;
    static final int MEMORY_ANSWER = 7;
    static final int MEMORY_GET = 8;
    static final int MEMORY_REVOKED = 9;

    private static final int CHANNEL_ID = 0x12345678;
    private static final int MEMORY = 1024 * 1024;
    private static final int HEARD = 64 * 1024;
    private static final long SECONDS = 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment out = arena.allocate(MEMORY, Long.BYTES);
    private final MemorySegment tagInfo = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES);
    private final long plain = UcpRequestParam.allocate(arena);
    private final Party party = HandshakeBytes.newParty();
    private final UcpContext context;
    private final UcpWorker worker;
    private final OwnLinks links = new OwnLinks();
    /** Sends that wait for a server that does not take them any more. */
    private final List<Long> pending = new ArrayList<>();

    private SocketChannel socket;
    private ClientHandshake handshake;
    private ByteBuf heard;
    private boolean ended;
    private HandshakeException failure;
    private Outcome outcome;
    /** Messages with bytes of the stream. */
    private int sent;
    /** GO, as long as it is held back. */
    private ByteBuffer go;
    private boolean holdsGoBack;
    private Runnable beforeOffer = () -> { };

    ForgingPeer() throws UcxException {
        UcxLibrary.load();
        try (UcpConfig config = UcpConfig.read(null)) {
            config.modify("TLS", Lane.current().tls());
            context = UcpContext.create(
                    new UcpContextParams().features(UcpFeature.TAG, UcpFeature.WAKEUP).config(config));
        }
        worker = context.createWorker(new UcpWorkerParams());
    }

    // ------------------------------------------------------------------------------------------- the handshake

    void connect(InetSocketAddress server) throws IOException {
        connect(server, KernelNearness.INSTANCE);
    }

    /** @param nearness what it does to show that it is on this host */
    void connect(InetSocketAddress server, Nearness nearness) throws IOException {
        socket = SocketChannel.open(server);
        socket.configureBlocking(false);
        heard = Unpooled.buffer();
        ended = false;
        failure = null;
        outcome = null;
        sent = 0;
        handshake = new ClientHandshake(HandshakeBytes.terms(party, CHANNEL_ID, Lane.current().toString(), null,
                (InetSocketAddress) socket.getLocalAddress(), server, nearness), links, this, KernelRandom::fill);
    }

    /** All of the handshake. */
    void greet() throws IOException {
        greetUpToGo();
        sayGo();
    }

    /** All but the last word: the server knows the link by now, and waits. */
    void greetUpToGo() {
        beginGreeting();
        finishGreeting();
    }

    /** When the server has answered that it takes a link, and has yet to be asked for one. */
    void beforeOffer(Runnable action) {
        beforeOffer = action;
    }

    /** Its first word. */
    void beginGreeting() {
        holdsGoBack = true;
        handshake.start();
    }

    /** What follows, but for the last word. */
    void finishGreeting() {
        awaitOutcome();
        if (outcome == null) {
            throw new AssertionError("the handshake has failed", failure);
        }
    }

    private void awaitOutcome() {
        until(() -> outcome != null || failure != null || ended, "the handshake does not end");
    }

    /** The handshake, which has to fail. */
    HandshakeException greetInVain() {
        beginGreeting();
        awaitOutcome();
        if (failure == null) {
            throw new AssertionError(outcome == null ? "the server has closed the connection"
                    : "the handshake has not failed");
        }
        return failure;
    }

    void sayGo() throws IOException {
        sayGo(new byte[0]);
    }

    /** With more behind it, in one piece. */
    void sayGo(byte[] more) throws IOException {
        holdsGoBack = false;
        say(ByteBuffer.allocate(go.remaining() + more.length).put(go).put(more).flip());
    }

    /** On the control socket. */
    void say(byte[] bytes) throws IOException {
        say(ByteBuffer.wrap(bytes));
    }

    private void say(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    @Override
    public void send(ByteBuf frame) {
        try {
            ByteBuffer bytes = ByteBuffer.allocate(frame.readableBytes());
            frame.readBytes(bytes);
            frame.release();
            bytes.flip();
            if (holdsGoBack && bytes.get(0) == HandshakeBytes.GO) {
                go = bytes;
            } else {
                say(bytes);
            }
        } catch (IOException e) {
            // The next read tells as well.
            ended = true;
        }
    }

    @Override
    public void opened(Outcome agreed) {
        outcome = agreed;
    }

    @Override
    public void failed(HandshakeException cause) {
        failure = cause;
    }

    // ------------------------------------------------------------------------------------------- the link

    private final class Half implements LinkHalf {

        private final long number = KernelRandom.nextLong() | 1;
        private final byte[] address;
        private UcpEndpoint endpoint;
        private long theirs;
        private boolean failed;

        Half(byte[] address) {
            this.address = address;
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public byte[] address() {
            return address;
        }

        @Override
        public void release() {
            // It stays until the server does not know it any more.
        }
    }

    /** At most one link, to the server of the test. */
    private final class OwnLinks extends HandshakeBytes.NoLinks {

        private Half link;

        @Override
        public LinkHalf match(LaneKind lane, Party server, long theirs) {
            return link != null && !link.failed && link.theirs == theirs ? link : null;
        }

        @Override
        public void request(LaneKind lane, Party server, LinkRequest request) {
            forget();
            beforeOffer.run();
            try {
                request.make(new Half(worker.queryAddress()));
            } catch (UcxException e) {
                request.unavailable(e.toString());
            }
        }

        @Override
        public LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException {
            Half connected = (Half) offered;
            connected.theirs = theirs;
            try {
                connected.endpoint = worker.connect(address, (endpoint, status) -> connected.failed = true);
            } catch (UcxException e) {
                throw new LinkException(e.toString());
            }
            link = connected;
            return link;
        }

        @Override
        public void abandon(LinkHalf offered, boolean told) {
            // Nothing has been made of it.
        }

        @Override
        public void stale(LinkHalf half) {
            forget();
        }

        void forget() {
            if (link != null) {
                pending.add(link.endpoint.closeNbx(true));
                link = null;
                awaitPending();
            }
        }
    }

    /**
     * A message to the channel that the server has for this connection.
     *
     * @param value of DATA: 0; of FIN: its last bit. They get the number, and the count, that they have to have.
     */
    void send(int type, int value, int length) {
        int numbered = switch (type) {
            case DATA -> sent++ & 0x3ff;
            case FIN -> sent << 1 | value;
            default -> value;
        };
        send(outcome.peer().channelId(), type, numbered, length);
    }

    /** A message is lost on the way. */
    void lose() {
        sent++;
    }

    void send(int channelId, int type, int value, int length) {
        if (!links.link.failed) {
            long tag = (long) channelId << 32 | (long) type << 28 | value;
            pending.add(UcpTag.sendNbx(links.link.endpoint.address(), out.address(), length, tag, plain));
            worker.progress();
        }
    }

    /** Until UCX has connected it. */
    void awaitLink() {
        pending.add(links.link.endpoint.flushNbx(plain));
        awaitPending();
    }

    // ------------------------------------------------------------------------------------------- the end

    void awaitEnd() {
        until(() -> ended, "the server does not close the connection");
    }

    /** Without a word. The link stays. */
    void hangUp() throws IOException {
        socket.close();
        ended = true;
        awaitPending();
        heard.release();
    }

    private void awaitPending() {
        until(() -> pending.stream().allMatch(ForgingPeer::isDone), "what was under way does not end");
        pending.stream().filter(UcsStatus::isRequest).forEach(UcpRequest::free);
        pending.clear();
    }

    private static boolean isDone(long statusPointer) {
        return !UcsStatus.isRequest(statusPointer) || UcpRequest.checkStatus(statusPointer) != UcsStatus.INPROGRESS;
    }

    void until(BooleanSupplier condition, String otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(SECONDS)) {
                throw new AssertionError("after " + SECONDS + " s: " + otherwise);
            }
            listen();
            if (worker.progress() == 0) {
                Thread.onSpinWait();
            }
            takeMessages();
        }
    }

    private void listen() {
        if (ended) {
            return;
        }
        try {
            int count = heard.writeBytes(socket, HEARD);
            ended = count < 0;
        } catch (IOException e) {
            // A reset is an end as well.
            ended = true;
        }
        if (!handshake.isOver()) {
            handshake.received(heard);
        }
    }

    /** What the server sends is not looked at. */
    private void takeMessages() {
        for (long message = nextMessage(); message != 0; message = nextMessage()) {
            long receive = UcpTag.messageReceiveNbx(worker.address(), out.address(), 0, message, plain);
            while (!isDone(receive)) {
                worker.progress();
            }
            if (UcsStatus.isRequest(receive)) {
                UcpRequest.free(receive);
            }
        }
    }

    private long nextMessage() {
        return UcpTag.probeNb(worker.address(), 0, 0, true, tagInfo.address());
    }

    @Override
    public void close() throws IOException {
        if (socket != null && socket.isOpen()) {
            hangUp();
        }
        links.forget();
        worker.close();
        context.close();
        arena.close();
    }
}
