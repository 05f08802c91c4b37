// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages that wait for their reader for longer than it takes the sender to tell how many there are: none is taken for lost. */
class WaitingMessagesTest {

    private static final int MIB = 1024 * 1024;
    /** In one segment of UCX, in several, and as a rendezvous. */
    private static final List<Integer> LENGTHS = List.of(1, 9_000, 65_536, 1, 300_000, 3 * MIB, 9_000);
    /** The sender looks every second, and tells when nothing has been sent between two looks. */
    private static final long MILLIS = 3_500;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane(lanes = Lane.SHM)
    void areReadWhenTheirReaderWantsThem() throws Exception {
        Inbox[] inboxes = {new Inbox(), new Inbox()};
        Channel[] readers = new Channel[inboxes.length];
        for (int i = 0; i < inboxes.length; i++) {
            Inbox inbox = inboxes[i];
            Channel server = peers.listen(peers.server(() -> inbox).childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.SO_RCVBUF, 16 * MIB));
            Channel client = peers.connect(server, new Inbox());
            readers[i] = inbox.awaitActive();
            for (int length : LENGTHS) {
                // UCX has not taken all as long as a rendezvous waits, and so one connection does without.
                if (i == 0 || length < MIB) {
                    client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length));
                }
            }
        }
        // It is this time that the test is about.
        TimeUnit.MILLISECONDS.sleep(MILLIS);
        for (int i = 0; i < inboxes.length; i++) {
            readers[i].config().setAutoRead(true);
            inboxes[i].awaitText("\0".repeat(LENGTHS.stream().mapToInt(Integer::intValue).sum() - (i == 0 ? 0 : 3 * MIB)));
            assertEquals(List.of(), inboxes[i].exceptions());
            assertTrue(readers[i].isActive());
        }
    }
}
