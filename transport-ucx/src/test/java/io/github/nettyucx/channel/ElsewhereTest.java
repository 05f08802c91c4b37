// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.Nearness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A client that is on another host, and says that it is on this one. Where something here forwards its bytes (a sidecar, a tunnel)
 * the kernel's addresses say so, too.
 */
class ElsewhereTest {

    /** Looks as if all were well, and leaves no sign here. */
    private static final Nearness ELSEWHERE = new Nearness() {
        @Override
        public Sign show(byte[] digest) {
            return () -> { };
        }

        @Override
        public boolean isShown(byte[] digest) {
            return true;
        }
    };

    @OnEachLane(linksOnly = true)
    void itGetsNoSharedMemory() throws Exception {
        try (Peers peers = new Peers(); ForgingPeer client = new ForgingPeer()) {
            UcxServerSocketChannel server = (UcxServerSocketChannel) peers.listen(peers.server(Inbox::new));
            client.connect(server.localAddress(), ELSEWHERE);
            if (Lane.current() != Lane.SHM) {
                client.greet();
                return;
            }
            HandshakeException failure = client.greetInVain();
            assertEquals(HandshakeFailure.NO_COMMON_LANE, failure.reason());
            assertTrue(failure.getMessage().contains("shm: the client has not shown that it is on this host"),
                    failure::getMessage);
            assertEquals(0, LoopState.of(server.eventLoop().parent(), 0).workers(), "a worker was made for it");
        }
    }
}
