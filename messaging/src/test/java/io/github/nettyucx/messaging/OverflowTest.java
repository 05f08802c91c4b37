// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What event loops have sent and the ring has not taken. */
class OverflowTest {

    private static final int LIMIT = 1024;
    /** With the node's ring more than what the tests' JVM may have outside its heap. */
    private static final int TOO_LARGE = Integer.MAX_VALUE;

    @Test
    @SuppressWarnings("deprecation") // of Netty 4.2
    void aFrameThatThereIsNoMemoryForTakesNoRoom() {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try (Node node = Node.builder(1).transport(group, NioSocketChannel.class, NioServerSocketChannel.class)
                .overflow(TOO_LARGE).start()) {
            Peer peer = node.peer(2);
            var overflow = new Overflow(peer, node, peer.outgoing().ring());
            for (IntConsumer add : new IntConsumer[] {overflow::add, overflow::addAnyway}) {
                assertThrows(OutOfMemoryError.class, () -> add.accept(TOO_LARGE));
                Slot slot = overflow.add(LIMIT);
                assertEquals(LIMIT, slot.length);
                overflow.drop(slot);
            }
            assertEquals(2, node.metrics().overflowed());
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
