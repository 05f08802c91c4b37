// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.Party;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Somebody who comes to a server's port and is no client of it. One thread uses it. */
final class Stranger implements AutoCloseable {

    /** What he says. */
    enum Kind {
        /** Connects, and that is all. */
        SILENCE,
        /** Connects, and is gone. */
        CLOSED,
        /** The same, with a reset. */
        RESET,
        RANDOM_BYTES,
        HTTP,
        ZEROS,
        /** Stops somewhere in HELLO. */
        STALL,
        /** Says HELLO byte by byte. */
        SLOW,
        /** Says the beginning of HELLO, and that it is all he wants to say. */
        CUT,
        /** HELLO with some bits turned over. */
        DAMAGED,
        VERSION_1,
        /** HELLO, and more than anybody asks for. */
        ENDLESS,
        TWICE,
        /** What a client has said on another day. */
        REPLAYED,
        /** What the server has said to somebody else. */
        REFLECTED,
        /** Gets the answer, and does not go on. */
        HALF_OPEN,
        /** Gets the answer, and offers a link with a proof of his own making. */
        WRONG_OFFER,
        /** The same with the last word. */
        WRONG_GO,
        /** Of those where a secret is needed. */
        NO_SECRET,
        WRONG_SECRET;

        /** Of a server with a secret. */
        boolean needsSecret() {
            return this == NO_SECRET || this == WRONG_SECRET;
        }

        /** All, or those that {@code -Dio.github.nettyucx.test.attacks} names. */
        static List<Kind> chosen() {
            String names = System.getProperty("io.github.nettyucx.test.attacks");
            return names == null ? List.of(values()) : Stream.of(names.split(",")).map(Kind::valueOf).toList();
        }

        /** Whether he may be there until the server's time for him is over. */
        boolean stays() {
            return this == SILENCE || this == STALL || this == SLOW || this == DAMAGED || this == REFLECTED
                    || this == HALF_OPEN;
        }

        /** Whether he closes his socket himself. */
        boolean leaves() {
            return this == CLOSED || this == RESET;
        }
    }

    private static final byte[] HTTP_REQUEST =
            "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final int VERSION_1_LENGTH = 64;
    private static final int WORKER_ADDRESS = 48;
    private static final int ENDLESS_BYTES = 32 * 1024;

    /** Of their addresses, the second byte. */
    private static final byte OWN_NET = 1;

    /** What the process of all strangers is; nobody knows another. */
    private static final Party PARTY = HandshakeBytes.newParty();
    private static final byte[] RECORDED = HandshakeBytes.conversation();

    private final Kind kind;
    private final SplittableRandom random;
    private final Socket socket = new Socket();
    private final InetSocketAddress server;
    private byte[] rest = new byte[0];
    private int said;

    Stranger(Kind kind, InetSocketAddress server, SplittableRandom random) {
        this.kind = kind;
        this.server = server;
        this.random = random;
    }

    /** By where he comes from. */
    static boolean isOne(InetSocketAddress from) {
        return from.getAddress().getAddress()[1] == OWN_NET;
    }

    /** Comes, and says what he says at once. */
    void come() throws IOException {
        // From any address of the loopback: a single one does not have ports enough.
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(
                new byte[] {127, OWN_NET, (byte) random.nextInt(100), (byte) random.nextInt(1, 255)}), 0));
        socket.connect(server);
        socket.setTcpNoDelay(true);
        try {
            speak();
        } catch (SocketException e) {
            // Turned away before everything was said.
        }
    }

    private void speak() throws IOException {
        switch (kind) {
            case SILENCE -> { }
            case CLOSED -> socket.close();
            case RESET -> {
                socket.setSoLinger(true, 0);
                socket.close();
            }
            case RANDOM_BYTES -> say(randomBytes(random.nextInt(1, 3000)));
            case HTTP -> say(HTTP_REQUEST);
            case ZEROS -> say(new byte[random.nextInt(1, 64)]);
            case STALL -> say(Arrays.copyOf(hello(), random.nextInt(1, HandshakeBytes.HELLO_LENGTH)));
            case SLOW -> {
                rest = hello();
                sayMore();
            }
            case CUT -> {
                say(Arrays.copyOf(hello(), random.nextInt(1, HandshakeBytes.HELLO_LENGTH)));
                socket.shutdownOutput();
            }
            case DAMAGED -> say(damaged(hello()));
            case VERSION_1 -> say(Arrays.copyOf(HandshakeBytes.with16(HandshakeBytes.with16(hello(),
                    HandshakeBytes.VERSION, 1), HandshakeBytes.LENGTH, VERSION_1_LENGTH), VERSION_1_LENGTH));
            case ENDLESS -> {
                say(hello());
                say(randomBytes(ENDLESS_BYTES));
            }
            case TWICE -> {
                say(hello());
                say(hello());
            }
            case REPLAYED -> say(RECORDED);
            case REFLECTED -> say(reflected());
            case HALF_OPEN -> answer();
            case WRONG_OFFER -> {
                answer();
                say(HandshakeBytes.withProof(HandshakeBytes.OFFER, randomBytes(HandshakeBytes.PROOF_LENGTH),
                        HandshakeBytes.ADDRESS + WORKER_ADDRESS));
            }
            case WRONG_GO -> {
                answer();
                say(go());
            }
            case NO_SECRET -> say(hello());
            case WRONG_SECRET -> {
                byte[] hello = hello();
                // Flags: that he has one.
                hello[HandshakeBytes.CHANNEL_ID - 1] = 1;
                say(hello);
                socket.getInputStream().readNBytes(HandshakeBytes.ANSWER_LENGTH);
                say(go());
            }
        }
    }

    /** Of a {@link Kind#SLOW} one: the next byte. */
    void sayMore() throws IOException {
        if (said < rest.length) {
            try {
                socket.getOutputStream().write(rest[said++]);
            } catch (SocketException e) {
                said = rest.length;
            }
        }
    }

    private void say(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    private byte[] hello() {
        return HandshakeBytes.hello(HandshakeBytes.terms(PARTY, random.nextInt() | 1, "shm,tcp,socket", null,
                (InetSocketAddress) socket.getLocalSocketAddress(), server));
    }

    private byte[] go() {
        return HandshakeBytes.withProof(HandshakeBytes.GO, randomBytes(HandshakeBytes.PROOF_LENGTH),
                HandshakeBytes.ADDRESS);
    }

    private byte[] answer() throws IOException {
        say(hello());
        return socket.getInputStream().readNBytes(HandshakeBytes.ANSWER_LENGTH);
    }

    /** The server's own words, as a HELLO. */
    private byte[] reflected() throws IOException {
        try (Socket other = new Socket(server.getAddress(), server.getPort())) {
            other.getOutputStream().write(hello());
            byte[] answer = other.getInputStream().readNBytes(HandshakeBytes.ANSWER_LENGTH);
            return HandshakeBytes.with16(Arrays.copyOf(answer, HandshakeBytes.HELLO_LENGTH), HandshakeBytes.LENGTH,
                    HandshakeBytes.HELLO_LENGTH);
        }
    }

    private byte[] damaged(byte[] hello) {
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            hello[random.nextInt(hello.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return hello;
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Until the server has closed the connection, or he himself has. */
    void awaitEnd(int millis) throws IOException {
        if (kind.leaves()) {
            return;
        }
        socket.setSoTimeout(millis);
        try {
            socket.getInputStream().readAllBytes();
        } catch (SocketException e) {
            if (!e.getMessage().contains("reset")) {
                throw e;
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
