// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A server that accepts a client, both in this process, and then gets a message that UCX must not read. */
final class PreloadedAllocatorMain {

    private static final int SIZE = 100;
    /** The envelope, and what is in order of the message. */
    private static final int JUNK_SIZE = 16 + 60;

    private PreloadedAllocatorMain() {
    }

    public static void main(String[] arguments) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG)) {
            System.out.println("echoed " + echo(pair));
            System.out.println("described " + !pair.context.describe().isEmpty());
            if (arguments.length == 0) {
                System.out.println("turned away " + turnedAway(pair));
            }
        }
    }

    private static boolean echo(ConnectedPair pair) throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sent = arena.allocate(SIZE).fill((byte) 42);
            MemorySegment passed = arena.allocate(SIZE);
            MemorySegment received = arena.allocate(SIZE);
            pass(pair, pair.client, sent, pair.serverWorker, passed);
            pass(pair, pair.server, passed, pair.clientWorker, received);
            return received.mismatch(sent) == -1;
        }
    }

    private static void pass(ConnectedPair pair, UcpEndpoint from, MemorySegment sent, UcpWorker to,
                             MemorySegment received) throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            long receive = UcpTag.receiveNbx(to.address(), received.address(), SIZE, 1, -1, param);
            pair.loop.complete("sending", UcpTag.sendNbx(from.address(), sent.address(), SIZE, 1, param));
            pair.loop.complete("receiving", receive);
        }
    }

    /** For such an address UCX would end the process. */
    private static List<String> turnedAway(ConnectedPair pair) throws Exception {
        List<String> problems = new ArrayList<>();
        try (UcpListener listener = pair.serverWorker.listen(ConnectedPair.loopback(0), new ConnectionHandler() {
            @Override
            public void onConnectionRequest(UcpConnectionRequest request) {
                problems.add("none");
            }

            @Override
            public void onUnintelligibleRequest(String problem) {
                problems.add(problem);
            }
        })) {
            InetSocketAddress address = listener.localAddress();
            try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
                byte[] junk = ByteBuffer.allocate(JUNK_SIZE).order(ByteOrder.nativeOrder()).putLong(JUNK_SIZE - 16)
                        .putLong(0).putLong(0).put((byte) 0x21).put((byte) 0x4f).array();
                socket.getOutputStream().write(junk);
                pair.loop.until("the refusal", () -> !problems.isEmpty());
            }
        }
        return problems;
    }
}
