// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.unix.SegmentedDatagramPacket;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Datagrams on the transport's loops: UDP, by the kernel's sockets. */
@Timeout(60)
class DatagramTest extends DatagramChannels {

    @Test
    void packetsGoAndComeInOrder() throws Exception {
        Mailbox answers = new Mailbox();
        UcxDatagramChannel echo = bind(new SimpleChannelInboundHandler<DatagramPacket>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                context.writeAndFlush(new DatagramPacket(packet.content().retain(), packet.sender()));
            }
        });
        UcxDatagramChannel client = bind(answers);
        assertTrue(client.isActive());
        for (int i = 0; i < 200; i++) {
            send(client, "letter " + i, echo.localAddress());
            assertEquals("letter " + i, answers.next());
        }
    }

    /** More of them than are sent in one turn of the loop. */
    @Test
    void aPacketOfSegmentsComesAsSeveral() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        String text = "segment,".repeat(40) + "end";
        ChannelFuture sent = sender.writeAndFlush(new SegmentedDatagramPacket(bytes(text), 8, receiver.localAddress()));
        assertTrue(sent.await(SECONDS, TimeUnit.SECONDS) && sent.isSuccess());
        for (int i = 0; i < 40; i++) {
            assertEquals("segment,", mailbox.next());
        }
        assertEquals("end", mailbox.next());
    }

    @Test
    void whatIsNoPacketFailsAndLeavesTheOthersAlone() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        List<ChannelFuture> sent = new ArrayList<>();
        sender.eventLoop().submit(() -> {
            sent.add(sender.write(new DatagramPacket(bytes("first"), receiver.localAddress())));
            sent.add(sender.write("no packet"));
            sent.add(sender.write(new DatagramPacket(bytes("lost"), InetSocketAddress.createUnresolved("nobody", 1))));
            sent.add(sender.writeAndFlush(new DatagramPacket(bytes("second"), receiver.localAddress())));
        }).sync();
        for (ChannelFuture future : sent) {
            assertTrue(future.await(SECONDS, TimeUnit.SECONDS));
        }
        assertNull(sent.get(0).cause());
        assertInstanceOf(UnsupportedOperationException.class, sent.get(1).cause());
        assertInstanceOf(UnresolvedAddressException.class, sent.get(2).cause());
        assertNull(sent.get(3).cause());
        assertEquals("first", mailbox.next());
        assertEquals("second", mailbox.next());
    }

    @Test
    void thePeerMayBeAnything() throws Exception {
        Mailbox mailbox = new Mailbox();
        try (DatagramSocket peer = new DatagramSocket(ANY_PORT)) {
            UcxDatagramChannel channel = bind(mailbox);
            InetSocketAddress peersAddress = (InetSocketAddress) peer.getLocalSocketAddress();
            assertTrue(send(channel, "hello", peersAddress).await(SECONDS, TimeUnit.SECONDS));
            java.net.DatagramPacket packet = new java.net.DatagramPacket(new byte[100], 100);
            peer.receive(packet);
            assertEquals("hello", new String(packet.getData(), 0, packet.getLength()));
            packet.setData("and back".getBytes());
            peer.send(packet);
            assertEquals("and back", mailbox.next());
        }
    }

    @Test
    void connectedOnesTakePlainBuffers() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = (UcxDatagramChannel) bootstrap(new Mailbox())
                .connect(receiver.localAddress()).syncUninterruptibly().channel();
        assertTrue(sender.isConnected() && sender.isActive());
        assertEquals(receiver.localAddress(), sender.remoteAddress());
        sender.writeAndFlush(bytes("hello"));
        assertEquals("hello", mailbox.next());
        sender.disconnect().syncUninterruptibly();
        assertFalse(sender.isConnected());
    }

    /** As Netty's DNS resolver does it. */
    @Test
    @SuppressWarnings("deprecation")
    void activeWithoutAnAddress() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        Mailbox answers = new Mailbox();
        UcxDatagramChannel sender = (UcxDatagramChannel) bootstrap(answers)
                .option(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION, true)
                .register().syncUninterruptibly().channel();
        assertTrue(sender.isActive());
        send(sender, "hello", receiver.localAddress());
        assertEquals("hello", mailbox.next());
        send(receiver, "and back", new InetSocketAddress(InetAddress.getLoopbackAddress(),
                sender.localAddress().getPort()));
        assertEquals("and back", answers.next());
    }

    @Test
    void whatCannotBeSentFailsAloneAndOthersKeepTheirOrder() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        ChannelFuture first = sender.write(new DatagramPacket(bytes("first"), receiver.localAddress()));
        // More than UDP can carry.
        ChannelFuture second = sender.write(
                new DatagramPacket(Unpooled.wrappedBuffer(new byte[70_000]), receiver.localAddress()));
        ChannelFuture third = send(sender, "third", receiver.localAddress());
        assertTrue(third.await(SECONDS, TimeUnit.SECONDS) && third.isSuccess());
        assertTrue(first.isSuccess());
        assertInstanceOf(IOException.class, second.cause());
        assertEquals("first", mailbox.next());
        assertEquals("third", mailbox.next());
    }

    @Test
    void aPacketThatWasReleasedOnceTooOftenFailsAloneAndTheChannelGoesOn() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        Mailbox answers = new Mailbox();
        UcxDatagramChannel sender = bind(answers);
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            writes.add(sender.write(new DatagramPacket(bytes("first"), receiver.localAddress())));
            DatagramPacket released = new DatagramPacket(
                    Unpooled.directBuffer().writeBytes("second".getBytes()), receiver.localAddress());
            writes.add(sender.write(released));
            released.release();
            writes.add(send(sender, "third", receiver.localAddress()));
        }));
        Peers.await(writes.get(0));
        assertInstanceOf(IllegalReferenceCountException.class, Peers.awaitFailure(writes.get(1)));
        Peers.await(writes.get(2));
        assertEquals("first", mailbox.next());
        assertEquals("third", mailbox.next());
        assertTrue(sender.isActive());
        send(receiver, "and back", sender.localAddress());
        assertEquals("and back", answers.next());
    }

    @Test
    void aCancelledWriteIsLeftOutAndTheOthersAreSentOnce() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            for (int i = 0; i < 5; i++) {
                writes.add(sender.write(new DatagramPacket(bytes("letter " + i), receiver.localAddress())));
            }
            assertTrue(writes.get(0).cancel(false) && writes.get(2).cancel(false));
            sender.flush();
        }));
        for (int i : new int[] {1, 3, 4}) {
            Peers.await(writes.get(i));
            assertEquals("letter " + i, mailbox.next());
        }
        assertTrue(writes.get(0).isCancelled() && writes.get(2).isCancelled());
        // Nothing that was sent is still in the channel's buffer, to be sent with the next one.
        Peers.await(send(sender, "the last", receiver.localAddress()));
        assertEquals("the last", mailbox.next());
    }

    @Test
    void whatWasFlushedBeforeACloseIsSentAndItsPromisesSayThat() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        List<ChannelFuture> writes = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            UcxDatagramChannel sender = bind(new Mailbox());
            Peers.await(sender.eventLoop().submit(() -> {
                writes.clear();
                for (int i = 0; i < 3; i++) {
                    writes.add(send(sender, "letter " + i, receiver.localAddress()));
                }
                writes.add(sender.write(new DatagramPacket(bytes("unflushed"), receiver.localAddress())));
                sender.close();
                assertFalse(sender.writeAndFlush(bytes("too late")).isSuccess());
            }));
            Peers.await(sender.closeFuture());
            for (int i = 0; i < 3; i++) {
                Peers.await(writes.get(i));
                assertEquals("letter " + i, mailbox.next());
            }
            assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(writes.get(3)));
        }
    }

    @Test
    void theEndOfALoopLeavesNoPromiseOfAClosingChannelOpen() throws Exception {
        UcxDatagramChannel receiver = bind(new Mailbox());
        UcxDatagramChannel sender = bind(new Mailbox());
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            writes.add(send(sender, "letter", receiver.localAddress()));
            writes.add(sender.write(new DatagramPacket(bytes("unflushed"), receiver.localAddress())));
            sender.close();
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }));
        Peers.await(group.terminationFuture());
        Peers.await(sender.closeFuture());
        assertTrue(writes.get(0).isDone() && writes.get(1).isDone());
    }

    @Test
    void aClosingChannelThatIsDeregisteredIsClosedAtOnce() throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        UcxDatagramChannel receiver = bind(new Mailbox());
        UcxDatagramChannel sender = bind(new Mailbox() {
            @Override
            public void channelInactive(ChannelHandlerContext context) {
                told.add("inactive");
            }

            @Override
            public void handlerRemoved(ChannelHandlerContext context) {
                told.add("removed");
            }
        });
        Peers.await(sender.eventLoop().submit(() -> {
            // Takes effect in a task of its own, when the channel is closed already.
            sender.pipeline().deregister();
            send(sender, "letter", receiver.localAddress());
            sender.close();
        }));
        Peers.await(sender.closeFuture());
        // Netty would tell of the inactivity after that, when there are no handlers any more.
        assertEquals("removed", told.poll(SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void nothingIsReadBeforeItIsAskedFor() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = (UcxDatagramChannel) bootstrap(mailbox)
                .option(ChannelOption.AUTO_READ, false)
                // One packet for each read.
                .option(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(512).maxMessagesPerRead(1))
                .bind(ANY_PORT).syncUninterruptibly().channel();
        UcxDatagramChannel sender = bind(new Mailbox());
        send(sender, "one", receiver.localAddress());
        assertTrue(send(sender, "two", receiver.localAddress()).await(SECONDS, TimeUnit.SECONDS));
        // What must not come cannot be waited for but by a time.
        assertNull(mailbox.letters.poll(200, TimeUnit.MILLISECONDS));
        receiver.read();
        assertEquals("one", mailbox.next());
        assertNull(mailbox.letters.poll(200, TimeUnit.MILLISECONDS));
        receiver.read();
        assertEquals("two", mailbox.next());
    }

    @Test
    void aPauseTakesBackTheReadThatWaits() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        send(sender, "before", receiver.localAddress());
        assertEquals("before", mailbox.next());
        for (int round = 0; round < 3; round++) {
            receiver.config().setAutoRead(false);
            Peers.await(receiver.eventLoop().submit(() -> { }));
            for (String letter : List.of("one", "two", "three")) {
                Peers.await(send(sender, letter, receiver.localAddress()));
            }
            // What must not come cannot be waited for but by a time.
            assertNull(mailbox.letters.poll(200, TimeUnit.MILLISECONDS));
            receiver.read();
            assertEquals("one", mailbox.next());
            assertNull(mailbox.letters.poll(200, TimeUnit.MILLISECONDS));
            receiver.config().setAutoRead(true);
            assertEquals("two", mailbox.next());
            assertEquals("three", mailbox.next());
        }
    }

    @Test
    void aPauseThatEndsAtOnceLosesNothing() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        for (int i = 0; i < 200; i++) {
            receiver.config().setAutoRead(false);
            send(sender, "letter " + i, receiver.localAddress());
            receiver.config().setAutoRead(true);
            assertEquals("letter " + i, mailbox.next());
        }
    }

    @Test
    void whatCameDuringAPauseTakesNoMemoryAndAClosedChannelHoldsNone() throws Exception {
        LeakWatch leaks = new LeakWatch();
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        receiver.config().setAllocator(leaks.allocator);
        UcxDatagramChannel sender = bind(new Mailbox());
        Peers.await(send(sender, "before", receiver.localAddress()));
        assertEquals("before", mailbox.next());
        receiver.config().setAutoRead(false);
        Peers.await(receiver.eventLoop().submit(() -> { }));
        Peers.await(send(sender, "letter", receiver.localAddress()));
        assertNull(mailbox.letters.poll(200, TimeUnit.MILLISECONDS));
        assertEquals(0, leaks.activeBuffers());
        Peers.await(receiver.close());
        assertEquals(0, leaks.activeBuffers());
    }

    @Test
    void anAddressInUseIsRefused() {
        UcxDatagramChannel first = bind(new Mailbox());
        ChannelFuture second = bootstrap(new Mailbox()).bind(first.localAddress()).awaitUninterruptibly();
        assertInstanceOf(BindException.class, second.cause());
    }

    @Test
    void optionsAreTheSockets() {
        UcxDatagramChannel channel = (UcxDatagramChannel) bootstrap(new Mailbox())
                .option(ChannelOption.SO_BROADCAST, true).option(ChannelOption.SO_RCVBUF, 100_000)
                .bind(ANY_PORT).syncUninterruptibly().channel();
        assertTrue(channel.config().isBroadcast());
        assertTrue(channel.config().getReceiveBufferSize() >= 100_000);
    }

    @Test
    void groupsAreJoinedByTheSocket() throws Exception {
        UcxDatagramChannel channel = new UcxDatagramChannel(StandardProtocolFamily.INET);
        group.register(channel).syncUninterruptibly();
        channel.bind(new InetSocketAddress("127.0.0.1", 0)).syncUninterruptibly();
        ChannelFuture notAGroup = channel.joinGroup(InetAddress.getByName("127.0.0.1")).awaitUninterruptibly();
        assertInstanceOf(IllegalArgumentException.class, notAGroup.cause());
    }

    @Test
    void aClosedChannelReadsNoMoreAndAnOpenOneIsClosedByItsLoop() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel closed = bind(mailbox);
        closed.close().syncUninterruptibly();
        assertFalse(closed.isOpen() || closed.isActive());
        // Nobody is there to read any more, which is no error.
        closed.read();
        closed.eventLoop().submit(() -> { }).syncUninterruptibly();
        assertNull(mailbox.letters.poll());
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        UcxDatagramChannel open = bind(new Mailbox() {
            @Override
            public void channelInactive(ChannelHandlerContext context) {
                told.add("inactive");
            }
        });
        end();
        assertFalse(open.isOpen(), "outlives its loop");
        assertEquals(List.of("inactive"), List.copyOf(told));
        // A closed one that was never registered has nothing to give back.
        UcxDatagramChannel unused = new UcxDatagramChannel();
        unused.unsafe().closeForcibly();
        assertFalse(unused.isOpen());
    }
}
