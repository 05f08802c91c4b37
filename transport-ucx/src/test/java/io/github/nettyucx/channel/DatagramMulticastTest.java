// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.ClosedChannelException;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

/** Groups, joined and left on the loopback interface. Netty's own tests take the others. */
@Timeout(60)
class DatagramMulticastTest extends DatagramChannels {

    private static final InetAddress GROUP = InetAddress.ofLiteral("232.7.7.7");
    private static final InetAddress SENDER = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress SOMEBODY_ELSE = InetAddress.ofLiteral("127.0.0.9");

    private final Mailbox mailbox = new Mailbox();
    private NetworkInterface loopback;
    private UcxDatagramChannel receiver;
    private UcxDatagramChannel sender;

    @BeforeEach
    void open() throws Exception {
        loopback = NetworkInterface.getByInetAddress(SENDER);
        // With both families, where there are both.
        receiver = (UcxDatagramChannel) bootstrap(mailbox).bind(0).syncUninterruptibly().channel();
        sender = newSender(new InetSocketAddress(SENDER, 0));
    }

    private UcxDatagramChannel newSender(InetSocketAddress local) {
        return (UcxDatagramChannel) new Bootstrap().group(group).handler(new Mailbox())
                .channelFactory(() -> new UcxDatagramChannel(StandardProtocolFamily.INET))
                .option(ChannelOption.IP_MULTICAST_IF, loopback)
                .bind(local).syncUninterruptibly().channel();
    }

    /** Sends one to the group, and one to the receiver alone, which comes in any case, and after the other one. */
    private void assertComes(boolean expected) throws InterruptedException {
        int port = receiver.localAddress().getPort();
        ChannelFuture toAll = send(sender, "to all", new InetSocketAddress(GROUP, port));
        Peers.await(send(sender, "to you", new InetSocketAddress(SENDER, port)));
        Peers.await(toAll);
        if (expected) {
            assertEquals("to all", mailbox.next());
        }
        assertEquals("to you", mailbox.next());
    }

    @Test
    void whoHasJoinedReceivesUntilHeLeaves() throws Exception {
        assertComes(false);
        Peers.await(receiver.joinGroup(new InetSocketAddress(GROUP, 0), loopback));
        assertComes(true);
        Peers.await(receiver.leaveGroup(new InetSocketAddress(GROUP, 0), loopback));
        assertComes(false);
    }

    @Test
    void theInterfaceThatIsSetIsTheOneThatDatagramsLeaveBy() throws Exception {
        Peers.await(receiver.joinGroup(new InetSocketAddress(GROUP, 0), loopback));
        // Bound to no address, by which the kernel would choose it as well.
        sender = newSender(new InetSocketAddress(0));
        assertComes(true);
    }

    @Test
    void oneSourceCanBeJoinedAlone() throws Exception {
        Peers.await(receiver.joinGroup(GROUP, loopback, SOMEBODY_ELSE));
        assertComes(false);
        Peers.await(receiver.joinGroup(GROUP, loopback, SENDER));
        assertComes(true);
        Peers.await(receiver.leaveGroup(GROUP, loopback, SENDER));
        assertComes(false);
    }

    @Test
    void oneSourceCanBeKeptOut() throws Exception {
        Peers.await(receiver.joinGroup(GROUP, loopback, null));
        Peers.await(receiver.block(GROUP, loopback, SOMEBODY_ELSE));
        assertComes(true);
        Peers.await(receiver.block(GROUP, loopback, SENDER));
        assertComes(false);
    }

    @Test
    void theInterfaceIsThatOfTheAddressThatTheChannelIsBoundTo() throws Exception {
        UcxDatagramChannel bound = (UcxDatagramChannel) Peers.await(
                bootstrap(new Mailbox()).bind(new InetSocketAddress(SENDER, 0))).channel();
        Peers.await(bound.joinGroup(GROUP));
        // The kernel knows the membership by its interface.
        Peers.await(bound.leaveGroup(new InetSocketAddress(GROUP, 0), loopback));
    }

    /** No interface has the group's address. */
    @Test
    void theInterfaceThatIsSetIsTheOneToJoinOn() throws Exception {
        UcxDatagramChannel bound = newSender(new InetSocketAddress(GROUP, 0));
        Peers.await(bound.joinGroup(GROUP));
        Peers.await(bound.leaveGroup(new InetSocketAddress(GROUP, 0), loopback));
    }

    @Test
    void whatTheKernelRefusesFailsThePromise() throws Exception {
        Throwable notJoined = Peers.awaitFailure(receiver.leaveGroup(new InetSocketAddress(GROUP, 0), loopback));
        assertInstanceOf(IOException.class, notJoined);
        receiver.close().syncUninterruptibly();
        assertInstanceOf(ClosedChannelException.class,
                Peers.awaitFailure(receiver.joinGroup(new InetSocketAddress(GROUP, 0), loopback)));
    }
}
