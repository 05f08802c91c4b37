// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A server that accepts a client, both in this process. */
final class PreloadedAllocatorMain {

    private static final int SIZE = 100;

    private PreloadedAllocatorMain() {
    }

    public static void main(String[] arguments) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.TAG)) {
            System.out.println("echoed " + echo(pair));
            System.out.println("described " + !pair.context.describe().isEmpty());
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
}
