// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetSocketAddress;

/** Bytes can overtake the HELLO of the peer that sends them, and so be there before the channel is active. */
class EarlyDataTest {

    private static final int LENGTH = 5;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane
    void aReadThatWasAskedForBeforeTheChannelIsActiveGetsThem() throws Exception {
        Inbox child = new Inbox() {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                context.read();
            }
        };
        // Nobody asks again.
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            client.hearHello();
            client.send(ForgingPeer.DATA, 0, LENGTH);
            client.sayHello();
            child.awaitActive();
            child.awaitText("\0".repeat(LENGTH));
        }
    }
}
