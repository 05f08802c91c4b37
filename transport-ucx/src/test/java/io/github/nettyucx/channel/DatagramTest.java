// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import org.junit.jupiter.api.AfterEach;
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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Datagrams on the transport's loops: UDP, driven by a thread beside them. */
@Timeout(60)
class DatagramTest {

    private static final long SECONDS = 20;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final EventLoopGroup group = TestLoops.newGroup(2, UcxWaitStrategy.PARK);

    @AfterEach
    void end() {
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Notes what comes, and that it comes in the channel's own thread. */
    private static class Mailbox extends SimpleChannelInboundHandler<DatagramPacket> {

        final BlockingQueue<String> letters = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            assertTrue(context.channel().eventLoop().inEventLoop());
            letters.add(text(packet.content()));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            letters.add(cause.toString());
        }

        String next() throws InterruptedException {
            String letter = letters.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(letter, "nothing came");
            return letter;
        }
    }

    private Bootstrap bootstrap(SimpleChannelInboundHandler<?> handler) {
        return new Bootstrap().group(group).channel(UcxDatagramChannel.class).handler(handler);
    }

    private UcxDatagramChannel bind(SimpleChannelInboundHandler<?> handler) {
        return (UcxDatagramChannel) bootstrap(handler).bind(ANY_PORT).syncUninterruptibly().channel();
    }

    private static String text(ByteBuf content) {
        return content.toString(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, java.nio.charset.StandardCharsets.UTF_8);
    }

    private static ChannelFuture send(UcxDatagramChannel from, String text, InetSocketAddress to) {
        return from.writeAndFlush(new DatagramPacket(bytes(text), to));
    }

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
            // Takes effect in a task of its own, when the close waits.
            sender.pipeline().deregister();
            send(sender, "letter", receiver.localAddress());
            sender.close();
        }));
        Peers.await(sender.closeFuture());
        assertEquals("inactive", told.poll(SECONDS, TimeUnit.SECONDS));
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
    void whatCameDuringAPauseIsReleasedByAClose() throws Exception {
        LeakWatch leaks = new LeakWatch();
        UcxDatagramChannel receiver = bind(new Mailbox());
        receiver.config().setAllocator(leaks.allocator);
        UcxDatagramChannel sender = bind(new Mailbox());
        receiver.config().setAutoRead(false);
        Peers.await(send(sender, "letter", receiver.localAddress()));
        awaitBuffers(leaks, 1);
        Peers.await(receiver.close());
        awaitBuffers(leaks, 0);
    }

    private static void awaitBuffers(LeakWatch leaks, int expected) throws InterruptedException {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS); leaks.activeBuffers() != expected;) {
            assertTrue(System.nanoTime() < end, () -> leaks.activeBuffers() + " buffers, not " + expected);
            // Between two looks at what another thread does.
            Thread.sleep(10);
        }
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
    void theThreadEndsWithTheLastChannel() throws Exception {
        UcxDatagramChannel first = bind(new Mailbox());
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel second = bind(mailbox);
        first.close().syncUninterruptibly();
        assertFalse(first.isOpen());
        assertTrue(driverRuns());
        second.close().syncUninterruptibly();
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS); driverRuns();) {
            assertTrue(System.nanoTime() < end, "the thread still runs");
            // Between two looks at what takes its time in another thread.
            Thread.sleep(10);
        }
        // Nobody is there to read any more, which is no error.
        second.read();
        second.eventLoop().submit(() -> { }).syncUninterruptibly();
        assertNull(mailbox.letters.poll());
        UcxDatagramChannel third = bind(new Mailbox());
        end();
        assertFalse(third.isOpen(), "outlives its loop");
        // A closed one that was never registered has no thread to end.
        UcxDatagramChannel unused = new UcxDatagramChannel();
        unused.unsafe().closeForcibly();
        assertFalse(unused.isOpen());
    }

    private static boolean driverRuns() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("ucx-datagrams"));
    }
}
