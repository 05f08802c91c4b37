// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says whether UCX is in a process that has a group of loops, and whether it is after a connection. */
public final class PreparationMain {

    static final String WITHOUT_CONNECTION = "loaded without a connection";
    static final String NEVER = "never loaded";
    static final String LATE = "loaded when it could be";
    /** Of a file that is in the way of the directory for the library. */
    static final String IN_THE_WAY = "in.the.way";

    private static final long LOAD_MILLIS = 30_000;

    private PreparationMain() {
    }

    public static void main(String[] args) throws Exception {
        if (System.getProperty(IN_THE_WAY) != null) {
            connectBeforeAndAfter(Path.of(System.getProperty(IN_THE_WAY)));
            return;
        }
        if (args.length > 0) {
            try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
                Eventually.await(LOAD_MILLIS, () -> "a libucp in the process", PreparationMain::isLoaded);
                awaitPrepared();
                System.out.println(WITHOUT_CONNECTION);
            }
            return;
        }
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            Inbox inbox = new Inbox();
            Channel server = peers.listen(() -> inbox);
            UcxSocketChannel client = peers.connect(server, new Inbox());
            Peers.await(client.writeAndFlush(Unpooled.directBuffer().writeBytes(new byte[] {'a', 'b', 'c'})));
            inbox.awaitText("abc");
            awaitPrepared();
            if (!isLoaded()) {
                System.out.println(NEVER);
            }
        }
    }

    private static void connectBeforeAndAfter(Path inTheWay) throws Exception {
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            Channel server = peers.listen(Inbox::new);
            if (isLink(peers, server) || Ucx.isAvailable()) {
                return;
            }
            Files.delete(inTheWay);
            // The process believes for some seconds that there is none.
            Eventually.await(LOAD_MILLIS, () -> "a link", () -> isLink(peers, server));
            if (Ucx.isAvailable()) {
                System.out.println(LATE);
            }
        }
    }

    private static boolean isLink(Peers peers, Channel server) throws Exception {
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .option(UcxChannelOption.LANES, "shm,socket").connect(server.localAddress())).channel();
        boolean link = !channel.lane().equals("socket");
        Peers.await(channel.close());
        return link;
    }

    /** The thread that prepares connections ends when all that it prepares is there, and when it has told of it. */
    private static void awaitPrepared() throws Exception {
        Eventually.await(LOAD_MILLIS, () -> "the end of the preparation", () -> Thread.getAllStackTraces().keySet()
                .stream().noneMatch(thread -> thread.getName().equals("netty-ucx-prepare")));
    }

    private static boolean isLoaded() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains("libucp.so");
    }
}
