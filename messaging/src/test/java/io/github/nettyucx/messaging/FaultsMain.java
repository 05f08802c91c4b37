// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * A node that is going to be killed. It takes down in a mapped file, which outlives it, when each message has come; it
 * answers requests with their number, and sends messages of its own.
 */
final class FaultsMain {

    static final int PORT_AT = 0;
    /** How many have come. */
    static final int ARRIVED_AT = 4;
    static final int DUPLICATES_AT = 8;
    static final int BROKEN_AT = 12;
    /** How many it has sent, with the one that it may be about to send. */
    static final int SENT_AT = 16;
    /** For each message as which one it has come, counted from 1, or 0; 4 bytes. */
    static final int ARRIVALS_AT = 64;
    /** To the child: closes its connections. */
    static final int CUT = 'c';

    static final Codec<long[]> NUMBERS = new Codec<>() {
        @Override
        public int size(long[] message) {
            return Exporter.sizeOf(message);
        }

        @Override
        public void write(long[] message, Exporter out) {
            out.putLongs(message);
        }

        @Override
        public long[] read(Importer in) {
            return in.getLongs();
        }
    };
    static final MessageType<long[]> MESSAGE = new MessageType<>(1, NUMBERS);
    static final RequestType<long[], long[]> REQUEST = new RequestType<>(2, NUMBERS, NUMBERS);
    private static final int OWN_LENGTHS = 40;

    /** What the two nodes are connected by. */
    enum Way {
        SHM,
        TCP,
        SOCKET,
        EPOLL;

        /** @param group of {@link #group()} */
        @SuppressWarnings("deprecation") // of Netty 4.2
        NodeBuilder builder(int id, EventLoopGroup group) {
            NodeBuilder builder = Node.builder(id);
            return this == EPOLL ? builder.transport(group, EpollSocketChannel.class, EpollServerSocketChannel.class)
                    : builder.option(UcxChannelOption.LANES, lane());
        }

        /** Of those that a node does not make itself, or {@code null}. */
        @SuppressWarnings("deprecation") // of Netty 4.2
        EventLoopGroup group() {
            return this == EPOLL ? new EpollEventLoopGroup(1) : null;
        }

        private String lane() {
            return name().toLowerCase(Locale.ROOT);
        }

        boolean carries(Channel channel) {
            if (!(channel instanceof UcxSocketChannel ucx)) {
                return this == EPOLL;
            }
            return this == SHM ? Set.of("sysv", "posix").contains(ucx.lane()) : ucx.lane().equals(lane());
        }
    }

    private FaultsMain() {
    }

    /** A message that can be told from a part of it, and from another one. */
    static long[] message(long number, int length) {
        long[] message = new long[length];
        for (int i = 0; i < length; i++) {
            message[i] = number + 31L * i * (number + length);
        }
        return message;
    }

    static boolean isWhole(long[] message) {
        return message.length > 0 && Arrays.equals(message, message((int) message[0], message.length));
    }

    /** @param args the way, the file, its size, and the port, or 0 for one that is free */
    public static void main(String[] args) throws Exception {
        MappedByteBuffer file;
        try (var random = new RandomAccessFile(args[1], "rw")) {
            file = random.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, Long.parseLong(args[2]));
        }
        Way way = Way.valueOf(args[0]);
        Node node = start(way, Integer.parseInt(args[3]));
        node.onMessage(MESSAGE, (from, message) -> {
            if (!isWhole(message)) {
                increment(file, BROKEN_AT);
                return;
            }
            int at = ARRIVALS_AT + Integer.BYTES * (int) message[0];
            if (file.getInt(at) != 0) {
                increment(file, DUPLICATES_AT);
            }
            file.putInt(at, increment(file, ARRIVED_AT));
        });
        node.onRequest(REQUEST, (from, request, responder) -> responder.respond(new long[] {request[0]}));
        file.putInt(PORT_AT, ((InetSocketAddress) node.address()).getPort());
        Thread.ofPlatform().daemon().start(() -> send(node.peer(1), file));
        // Ends with whoever has started it.
        for (int order = System.in.read(); order >= 0; order = System.in.read()) {
            node.peer(1).connections().forEach(connection -> connection.channel().close());
        }
        Runtime.getRuntime().halt(0);
    }

    /** Ends the process if it cannot listen. */
    private static Node start(Way way, int port) {
        try {
            return way.builder(2, way.group()).reachTimeout(Duration.ofMillis(500))
                    .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).start();
        } catch (RuntimeException e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
            throw e;
        }
    }

    private static int increment(MappedByteBuffer file, int at) {
        int value = file.getInt(at) + 1;
        file.putInt(at, value);
        return value;
    }

    private static void send(Peer peer, MappedByteBuffer file) {
        while (true) {
            int number = increment(file, SENT_AT);
            try {
                peer.send(MESSAGE, message(number, number % 1000 == 0 ? 20_000 : 1 + number % OWN_LENGTHS));
                if (number % 16 == 0) {
                    // Beside what comes.
                    Thread.sleep(1);
                }
            } catch (MessagingException | InterruptedException e) {
                // It goes on as long as the process does.
                continue;
            }
        }
    }
}
