// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.DatagramPort;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.DatagramPacket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a datagram channel makes of its socket: when there is one, its options, its peer, and what the kernel says. */
@Timeout(60)
class DatagramSocketTest extends DatagramChannels {

    private static final NetworkInterface LOOPBACK = loopback();
    private static final int HOPS = 9;
    private static final int LOW_DELAY = 0x10;

    private static NetworkInterface loopback() {
        try {
            return NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private UcxDatagramChannel connect(Mailbox mailbox, InetSocketAddress peer) throws InterruptedException {
        return (UcxDatagramChannel) Peers.await(bootstrap(mailbox).connect(peer)).channel();
    }

    /** What the kernel has; {@code null} if the channel has no socket. */
    private static Map<SocketSetting, Integer> settings(UcxDatagramChannel channel, SocketSetting... asked)
            throws Exception {
        return channel.eventLoop().submit(() -> {
            List<Map<SocketSetting, Integer>> answer = new ArrayList<>();
            channel.onSocket(socket -> answer.add(read(socket, asked)));
            return answer.isEmpty() ? null : answer.get(0);
        }).get(SECONDS, TimeUnit.SECONDS);
    }

    private static Map<SocketSetting, Integer> read(KernelSocket socket, SocketSetting... asked) throws IOException {
        Map<SocketSetting, Integer> read = new EnumMap<>(SocketSetting.class);
        for (SocketSetting setting : asked) {
            read.put(setting, socket.get(setting));
        }
        return read;
    }

    // ------------------------------------------------------------------------------------------- options

    @Test
    void optionsAreKeptUntilThereIsASocketAndThenAreIts() throws Exception {
        SocketSetting[] all = {SocketSetting.BROADCAST, SocketSetting.REUSE_ADDRESS, SocketSetting.TRAFFIC_CLASS,
            SocketSetting.MULTICAST_TTL, SocketSetting.MULTICAST_LOOP};
        UcxDatagramChannel channel = (UcxDatagramChannel) bootstrap(new Mailbox())
                .option(ChannelOption.SO_BROADCAST, true).option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.IP_TOS, LOW_DELAY).option(ChannelOption.IP_MULTICAST_TTL, HOPS)
                .option(ChannelOption.IP_MULTICAST_LOOP_DISABLED, true)
                .option(ChannelOption.IP_MULTICAST_IF, LOOPBACK)
                .option(ChannelOption.SO_RCVBUF, 50_000).option(ChannelOption.SO_SNDBUF, 60_000)
                .register().syncUninterruptibly().channel();
        assertNull(settings(channel, all), "there is a socket already");
        assertFalse(channel.isActive());
        assertNull(channel.localAddress());

        Peers.await(channel.bind(ANY_PORT));
        assertEquals(Map.of(SocketSetting.BROADCAST, 1, SocketSetting.REUSE_ADDRESS, 1,
                SocketSetting.TRAFFIC_CLASS, LOW_DELAY, SocketSetting.MULTICAST_TTL, HOPS,
                SocketSetting.MULTICAST_LOOP, 0), settings(channel, all));
        DatagramChannelConfig config = channel.config();
        assertTrue(config.isBroadcast() && config.isReuseAddress() && config.isLoopbackModeDisabled());
        assertEquals(HOPS, config.getTimeToLive());
        assertEquals(LOW_DELAY, config.getTrafficClass());
        assertEquals(LOOPBACK, config.getNetworkInterface());
        assertTrue(LOOPBACK.inetAddresses().anyMatch(config.getInterface()::equals));
        assertEquals(50_000, config.getReceiveBufferSize());
        assertEquals(60_000, config.getSendBufferSize());
        for (ChannelOption<?> option : config.getOptions().keySet()) {
            assertNotNull(config.getOption(option), option::toString);
        }
    }

    @Test
    void laterOptionsReachTheSocketFromAnyThread() throws Exception {
        UcxDatagramChannel channel = bind(new Mailbox());
        channel.config().setTimeToLive(HOPS);
        assertEquals(Map.of(SocketSetting.MULTICAST_TTL, HOPS), settings(channel, SocketSetting.MULTICAST_TTL));
        channel.eventLoop().submit(() -> channel.config().setTimeToLive(HOPS + 1)).get(SECONDS, TimeUnit.SECONDS);
        assertEquals(Map.of(SocketSetting.MULTICAST_TTL, HOPS + 1), settings(channel, SocketSetting.MULTICAST_TTL));
        assertThrows(IllegalArgumentException.class, () -> channel.config().setTimeToLive(256));
        assertThrows(IllegalArgumentException.class, () -> channel.config().setReceiveBufferSize(0));
    }

    @Test
    @SuppressWarnings("deprecation")
    void whetherAChannelIsActiveWithoutAnAddressIsSaidBeforeItsRegistration() {
        UcxDatagramChannel channel = bind(new Mailbox());
        assertThrows(IllegalStateException.class,
                () -> channel.config().setOption(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION, true));
    }

    @Test
    void anUnboundChannelTellsWhatItsSocketWillHave() throws Exception {
        UcxDatagramChannel channel = new UcxDatagramChannel();
        int size;
        try (DatagramSocket any = new DatagramSocket()) {
            size = any.getReceiveBufferSize();
        }
        assertEquals(size, channel.config().getReceiveBufferSize());
        assertTrue(channel.config().getSendBufferSize() > 0);
        assertFalse(channel.config().isBroadcast() || channel.config().isLoopbackModeDisabled());
        assertEquals(1, channel.config().getTimeToLive());
        channel.unsafe().closeForcibly();
    }

    // ------------------------------------------------------------------------------------------- peers

    @Test
    void whatOthersHaveSentBeforeTheConnectIsNotThePeers() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel channel = (UcxDatagramChannel) bootstrap(mailbox).option(ChannelOption.AUTO_READ, false)
                .bind(ANY_PORT).syncUninterruptibly().channel();
        UcxDatagramChannel peer = bind(new Mailbox());
        UcxDatagramChannel stranger = bind(new Mailbox());
        Peers.await(send(stranger, "from a stranger", channel.localAddress()));
        Peers.await(send(peer, "early", channel.localAddress()));
        Peers.await(send(stranger, "from a stranger", channel.localAddress()));
        Peers.await(channel.connect(peer.localAddress()));
        Peers.await(send(peer, "late", channel.localAddress()));
        channel.config().setAutoRead(true);
        assertEquals("early", mailbox.next());
        assertEquals("late", mailbox.next());
        assertInstanceOf(AlreadyConnectedException.class,
                Peers.awaitFailure(channel.connect(peer.localAddress())));
    }

    @Test
    void whoDisconnectsKeepsTheAddress() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel peer = bind(new Mailbox());
        UcxDatagramChannel other = bind(new Mailbox());
        for (InetSocketAddress local : new InetSocketAddress[] {null, ANY_PORT}) {
            UcxDatagramChannel channel = (UcxDatagramChannel) Peers.await(
                    bootstrap(new Forward(mailbox)).connect(peer.localAddress(), local)).channel();
            int port = channel.localAddress().getPort();
            Peers.await(channel.disconnect());
            assertFalse(channel.isConnected());
            assertTrue(channel.isActive());
            assertNull(channel.remoteAddress());
            assertEquals(port, channel.localAddress().getPort());
            Peers.await(send(other, "hello", new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
            assertEquals("hello", mailbox.next());
            assertInstanceOf(NotYetConnectedException.class, Peers.awaitFailure(channel.writeAndFlush(bytes("x"))));
            Peers.await(channel.connect(peer.localAddress()));
            assertEquals(peer.localAddress(), channel.remoteAddress());
        }
    }

    /** One mailbox for many channels. */
    private static final class Forward extends Mailbox {

        private final Mailbox mailbox;

        Forward(Mailbox mailbox) {
            this.mailbox = mailbox;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            mailbox.channelRead0(context, packet);
        }
    }

    @Test
    void aPortWhereNobodyListensIsToldAndLeavesTheChannelOpen() throws Exception {
        InetSocketAddress address;
        try (DatagramSocket gone = new DatagramSocket(ANY_PORT)) {
            address = (InetSocketAddress) gone.getLocalSocketAddress();
        }
        BlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        UcxDatagramChannel channel = connect(new Mailbox() {
            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                told.add(cause);
            }
        }, address);
        Peers.await(channel.writeAndFlush(bytes("is anybody there?")));
        assertInstanceOf(PortUnreachableException.class, told.poll(SECONDS, TimeUnit.SECONDS));
        try (DatagramSocket back = new DatagramSocket(address)) {
            Peers.await(channel.writeAndFlush(bytes("now?")));
            java.net.DatagramPacket packet = new java.net.DatagramPacket(new byte[100], 100);
            back.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
            back.receive(packet);
            assertEquals("now?", new String(packet.getData(), 0, packet.getLength()));
        }
    }

    // ------------------------------------------------------------------------------------------- reading and writing

    @Test
    void aReadBringsNoMorePacketsThanTheAllocatorSays() throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        UcxDatagramChannel receiver = bind(new Mailbox() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                told.add(text(packet.content()));
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
                told.add("complete");
            }
        });
        receiver.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(100).maxMessagesPerRead(2));
        UcxDatagramChannel sender = bind(new Mailbox());
        EventLoop loop = receiver.eventLoop();
        Peers.await(loop.submit(() -> {
            // What comes while the loop is busy is there when it looks.
            for (int i = 0; i < 5; i++) {
                assertDoesSend(sender, receiver.localAddress(), i);
            }
        }));
        for (String expected : List.of("0", "1", "complete", "2", "3", "complete", "4", "complete")) {
            assertEquals(expected, told.poll(SECONDS, TimeUnit.SECONDS));
        }
    }

    /** The two channels have a loop each. */
    private static void assertDoesSend(UcxDatagramChannel sender, InetSocketAddress to, int number) {
        ChannelFuture sent = send(sender, Integer.toString(number), to);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!sent.isDone()) {
            assertTrue(System.nanoTime() < end, "nothing is sent");
            Thread.onSpinWait();
        }
        assertTrue(sent.isSuccess());
    }

    @Test
    void packetsHaveTheirSenderAndTheirRecipient() throws Exception {
        BlockingQueue<List<InetSocketAddress>> told = new LinkedBlockingQueue<>();
        UcxDatagramChannel receiver = bind(new Mailbox() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                told.add(List.of(packet.sender(), packet.recipient()));
            }
        });
        UcxDatagramChannel sender = bind(new Mailbox());
        Peers.await(send(sender, "", receiver.localAddress()));
        assertEquals(List.of(sender.localAddress(), receiver.localAddress()), told.poll(SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void nothingIsSentBeforeTheChannelIsActive() throws Exception {
        UcxDatagramChannel receiver = bind(new Mailbox());
        UcxDatagramChannel channel =
                (UcxDatagramChannel) bootstrap(new Mailbox()).register().syncUninterruptibly().channel();
        assertInstanceOf(NotYetConnectedException.class,
                Peers.awaitFailure(send(channel, "too early", receiver.localAddress())));
        Peers.await(channel.bind(ANY_PORT));
        Peers.await(send(channel, "now", receiver.localAddress()));
    }

    @Test
    void packetsWaitForRoomInTheSocketAndThenGo() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            DatagramPort real = sender.port;
            sender.port = fullFor(real);
            writes.add(send(sender, "one", receiver.localAddress()));
            writes.add(send(sender, "two", receiver.localAddress()));
            assertFalse(writes.get(0).isDone() || writes.get(1).isDone());
            sender.port = real;
        }));
        // The real socket has room, and says so when it is asked to.
        Peers.await(writes.get(0));
        Peers.await(writes.get(1));
        assertEquals("one", mailbox.next());
        assertEquals("two", mailbox.next());
    }

    private static DatagramPort fullFor(DatagramPort reading) {
        return new DatagramPort() {
            @Override
            public int receiveFrom(long address, int length) {
                return reading.receiveFrom(address, length);
            }

            @Override
            public InetSocketAddress lastSender() {
                return reading.lastSender();
            }

            @Override
            public int sendTo(long address, int length, InetSocketAddress remote) {
                return -Errno.EAGAIN;
            }
        };
    }

    @Test
    void aCloseFailsWhatStillWaitsForRoom() throws Exception {
        LeakWatch leaks = new LeakWatch();
        UcxDatagramChannel receiver = bind(new Mailbox());
        UcxDatagramChannel sender = bind(new Mailbox());
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            writes.add(send(sender, "one", receiver.localAddress()));
            sender.port = fullFor(sender.port);
            writes.add(sender.writeAndFlush(
                    new DatagramPacket(leaks.allocator.directBuffer().writeByte(1), receiver.localAddress())));
            sender.close();
        }));
        Peers.await(sender.closeFuture());
        Peers.await(writes.get(0));
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(writes.get(1)));
        assertEquals(0, leaks.activeBuffers());
    }

    @Test
    void aFlushOfManyGoesOnInLaterTurns() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        sender.config().setOption(ChannelOption.MAX_MESSAGES_PER_WRITE, 1);
        List<ChannelFuture> writes = new ArrayList<>();
        Peers.await(sender.eventLoop().submit(() -> {
            for (int i = 0; i < 4; i++) {
                writes.add(sender.write(new DatagramPacket(bytes("letter " + i), receiver.localAddress())));
            }
            sender.flush();
            assertTrue(writes.get(0).isDone());
            assertFalse(writes.get(1).isDone());
        }));
        for (int i = 0; i < 4; i++) {
            Peers.await(writes.get(i));
            assertEquals("letter " + i, mailbox.next());
        }
    }

    // ------------------------------------------------------------------------------------------- the event loop

    @Test
    void aChannelMayGoOnWithAnotherLoop() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel channel = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        EventLoop first = channel.eventLoop();
        Peers.await(channel.deregister());
        assertTrue(channel.isOpen());
        Peers.await(send(sender, "while nobody looks", channel.localAddress()));
        EventLoop second = group.next();
        if (second == first) {
            second = group.next();
        }
        Peers.await(second.register(channel));
        assertEquals("while nobody looks", mailbox.next());
        Peers.await(send(sender, "hello", channel.localAddress()));
        assertEquals("hello", mailbox.next());
        Peers.await(channel.close());
    }

    /** Its socket is made when it has no loop: the one that it had before has nothing to do with it. */
    @Test
    void aChannelThatIsBoundBetweenTwoLoopsIsReadByTheSecondAlone() throws Exception {
        Mailbox mailbox = new Mailbox();
        Set<Thread> readers = ConcurrentHashMap.newKeySet();
        UcxDatagramChannel channel = new UcxDatagramChannel();
        channel.pipeline().addLast(mailbox);
        channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(2048) {
            @Override
            public Handle newHandle() {
                return new DelegatingHandle(super.newHandle()) {
                    @Override
                    public void lastBytesRead(int bytes) {
                        readers.add(Thread.currentThread());
                        super.lastBytesRead(bytes);
                    }
                };
            }
        });
        UcxDatagramChannel sender = bind(new Mailbox());
        EventLoop first = group.next();
        EventLoop second = group.next();
        assertNotSame(first, second);
        Peers.await(first.register(channel));
        Peers.await(channel.deregister());
        Peers.await(channel.bind(ANY_PORT));
        Peers.await(second.register(channel));
        for (int i = 0; i < 100; i++) {
            Peers.await(send(sender, "letter " + i, channel.localAddress()));
            assertEquals("letter " + i, mailbox.next());
        }
        assertEquals(Set.of(second.submit(Thread::currentThread).get()), readers);
        Peers.await(channel.close());
    }

    @Test
    void aReadThatIsTakenBackBetweenTwoLoopsIsNotMadeUpForByTheSecond() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel channel = bind(mailbox);
        UcxDatagramChannel sender = bind(new Mailbox());
        EventLoop second = sender.eventLoop();
        assertNotSame(channel.eventLoop(), second);
        Peers.await(channel.deregister());
        channel.config().setAutoRead(false);
        Peers.await(second.register(channel));
        Mailbox witness = new Mailbox();
        UcxDatagramChannel other = (UcxDatagramChannel) bootstrap(witness).clone(second).bind(ANY_PORT)
                .syncUninterruptibly().channel();
        Peers.await(send(sender, "unasked", channel.localAddress()));
        // What has come to the same loop later has been read: twice, so that it was not in the same turn.
        for (int i = 0; i < 2; i++) {
            Peers.await(send(sender, "witness " + i, other.localAddress()));
            assertEquals("witness " + i, witness.next());
        }
        assertTrue(mailbox.letters.isEmpty(), mailbox.letters::toString);
        channel.config().setAutoRead(true);
        assertEquals("unasked", mailbox.next());
    }

    @Test
    void whatOneLoopWasToSendTheNextOneSends() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        UcxDatagramChannel sender = (UcxDatagramChannel) bootstrap(new Mailbox())
                .option(ChannelOption.MAX_MESSAGES_PER_WRITE, 1).bind(ANY_PORT).syncUninterruptibly().channel();
        List<ChannelFuture> writes = new ArrayList<>();
        EventLoop first = sender.eventLoop();
        Peers.await(first.submit(() -> {
            for (int i = 0; i < 4; i++) {
                writes.add(sender.write(new DatagramPacket(bytes("letter " + i), receiver.localAddress())));
            }
            sender.flush();
            // In the same turn, in which one may be sent.
            sender.pipeline().deregister();
            assertFalse(writes.get(1).isDone());
        }));
        Eventually.await(15_000, () -> "the channel stays with its loop", () -> !sender.isRegistered());
        EventLoop second = group.next();
        if (second == first) {
            second = group.next();
        }
        Peers.await(second.register(sender));
        for (int i = 0; i < 4; i++) {
            Peers.await(writes.get(i));
            assertEquals("letter " + i, mailbox.next());
        }
    }

    @Test
    void aLoopOfAnotherTransportIsRefused() throws Exception {
        UcxDatagramChannel channel = new UcxDatagramChannel();
        EventLoopGroup other = new DefaultEventLoopGroup(1);
        try {
            assertInstanceOf(IllegalStateException.class, Peers.awaitFailure(other.register(channel)));
        } finally {
            channel.unsafe().closeForcibly();
            other.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
