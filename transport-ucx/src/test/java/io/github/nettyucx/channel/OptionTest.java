// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.channel.socket.nio.NioChannelOption;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

import java.lang.reflect.Method;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.HashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Options can be set and read back, and a bad value is told at once. */
class OptionTest {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * 1024;

    private final UcxSocketChannelConfig socket = new UcxSocketChannel().config();
    private final UcxServerSocketChannelConfig server = new UcxServerSocketChannel().config();

    // ------------------------------------------------------------------------------------------- good values

    @Test
    void everyOptionOfASocketChannelIsKept() {
        assertKept(socket, ChannelOption.SO_RCVBUF, 64 * KIB, 128 * KIB);
        assertKept(socket, ChannelOption.SO_SNDBUF, 1, 128 * KIB);
        assertKept(socket, ChannelOption.TCP_NODELAY, true, false);
        assertKept(socket, ChannelOption.SO_KEEPALIVE, true, false);
        assertKept(socket, ChannelOption.SO_REUSEADDR, true, false);
        assertKept(socket, ChannelOption.SO_LINGER, -1, 0, 7);
        assertKept(socket, ChannelOption.IP_TOS, 0, 8);
        assertKept(socket, ChannelOption.ALLOW_HALF_CLOSURE, true, false);
        assertKept(socket, UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 1, Integer.MAX_VALUE);
        assertKept(socket, UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 0, Integer.MAX_VALUE);
        // Netty's own.
        assertKept(socket, ChannelOption.CONNECT_TIMEOUT_MILLIS, 0, 17);
        assertKept(socket, ChannelOption.AUTO_READ, false);
        assertKept(socket, ChannelOption.WRITE_SPIN_COUNT, 1, 17);
    }

    @Test
    void everyOptionOfAServerChannelIsKept() {
        assertKept(server, ChannelOption.SO_BACKLOG, 0, 17);
        assertKept(server, ChannelOption.SO_REUSEADDR, true, false);
        assertKept(server, ChannelOption.SO_RCVBUF, 64 * KIB, 128 * KIB);
        assertKept(server, ChannelOption.AUTO_READ, false);
    }

    @SafeVarargs
    private static <T> void assertKept(ChannelConfig config, ChannelOption<T> option, T... values) {
        for (T value : values) {
            assertTrue(config.setOption(option, value), () -> option + " is not known");
            assertEquals(value, config.getOption(option), option::toString);
            assertEquals(value, config.getOptions().get(option), option::toString);
        }
    }

    @Test
    void aWholeMapOfOptionsCanBeSet() {
        assertTrue(socket.setOptions(Map.of(ChannelOption.SO_RCVBUF, 8 * KIB, ChannelOption.SO_LINGER, 3)));
        assertEquals(8 * KIB, socket.getReceiveBufferSize());
        assertEquals(3, socket.getSoLinger());
    }

    @Test
    void settersReturnTheOptionsInTheTypeOfTheirChannel() throws NoSuchMethodException {
        UcxSocketChannelConfig sameSocket = socket.setAutoRead(false).setWriteSpinCount(3).setLanes(socket.getLanes());
        assertSame(socket, sameSocket);
        UcxServerSocketChannelConfig sameServer = server.setAutoRead(false).setBacklog(3).setWriteSpinCount(3);
        assertSame(server, sameServer);
        DatagramChannelConfig datagrams = new UcxDatagramChannel().config();
        assertSame(datagrams, datagrams.setAutoClose(false));
        assertTyped(socket, SocketChannelConfig.class);
        assertTyped(server, ServerSocketChannelConfig.class);
        assertTyped(datagrams, DatagramChannelConfig.class);
    }

    /** Each setter of Netty's type returns that type or one below it, to those who look for it by reflection as well. */
    private static void assertTyped(ChannelConfig config, Class<?> type) throws NoSuchMethodException {
        for (Method setter : type.getMethods()) {
            if (type.isAssignableFrom(setter.getReturnType())) {
                Class<?> returned = config.getClass().getMethod(setter.getName(), setter.getParameterTypes()).getReturnType();
                assertTrue(type.isAssignableFrom(returned), () -> setter + ": " + returned);
            }
        }
    }

    @Test
    void optionsOfOtherChannelsAreNotKnown() {
        assertFalse(socket.setOption(ChannelOption.SO_BACKLOG, 17));
        assertFalse(server.setOption(ChannelOption.TCP_NODELAY, true));
        assertFalse(server.setOption(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 17));
        // Of the channels that a server accepts.
        assertFalse(server.setOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 17));
    }

    @Test
    void theReceiveWindowIsBroughtIntoItsRange() {
        assertClamped(4 * KIB, 1);
        assertClamped(4 * KIB, 4 * KIB - 1);
        assertClamped(4 * KIB, 4 * KIB);
        assertClamped(4 * KIB + 1, 4 * KIB + 1);
        assertClamped(128 * MIB, 128 * MIB);
        assertClamped(128 * MIB, 128 * MIB + 1);
        assertClamped(128 * MIB, Integer.MAX_VALUE);
    }

    private void assertClamped(int expected, int value) {
        socket.setOption(ChannelOption.SO_RCVBUF, value);
        assertEquals(expected, socket.getOption(ChannelOption.SO_RCVBUF));
    }

    @Test
    void everyNegativeLingerMeansNone() {
        socket.setOption(ChannelOption.SO_LINGER, -5);
        assertEquals(-1, socket.getOption(ChannelOption.SO_LINGER));
    }

    // ------------------------------------------------------------------------------------------- other transports'

    private static <T> ChannelOption<T> ofEpoll(String name) {
        return ChannelOption.valueOf("io.netty.channel.epoll.EpollChannelOption#" + name);
    }

    @Test
    void whatAnySocketHasIsTakenFromOtherTransportsOptions() {
        assertTrue(server.setOption(ChannelOption.valueOf("io.netty.channel.unix.UnixChannelOption#SO_REUSEPORT"), true));
        assertTrue(server.isReusePort());
        Map<String, SocketSetting> settings = Map.of("TCP_KEEPIDLE", SocketSetting.KEEP_IDLE_SECONDS,
                "TCP_KEEPINTVL", SocketSetting.KEEP_INTERVAL_SECONDS, "TCP_KEEPCNT", SocketSetting.KEEP_COUNT,
                "TCP_USER_TIMEOUT", SocketSetting.USER_TIMEOUT_MILLIS);
        settings.forEach((name, setting) -> {
            assertTrue(socket.setOption(ofEpoll(name), 17), name);
            assertEquals(17, socket.socketOptions().get(setting, -1), name);
            assertThrows(IllegalArgumentException.class, () -> socket.setOption(ofEpoll(name), -1), name);
            assertEquals(17, socket.socketOptions().get(setting, -1), name);
            assertEquals(17, (Object) socket.getOption(ofEpoll(name)), name);
        });
        assertEquals(true, server.getOption(ChannelOption.valueOf("io.netty.channel.epoll.EpollChannelOption#SO_REUSEPORT")));
        // What nobody has set is the kernel's choice.
        assertEquals(0, (Object) new UcxSocketChannel().config().getOption(ofEpoll("TCP_USER_TIMEOUT")));
        int idle = (Integer) (Object) new UcxSocketChannel().config().getOption(ofEpoll("TCP_KEEPIDLE"));
        assertTrue(idle > 0, () -> idle + " s");
    }

    /** {@link NioChannelOption} makes them anew each time. */
    @Test
    void theJdksOptionsAreThoseOfTheSameName() {
        assertTrue(socket.setOption(NioChannelOption.of(StandardSocketOptions.SO_KEEPALIVE), true));
        assertTrue(socket.isKeepAlive());
        assertTrue(socket.setOption(NioChannelOption.of(StandardSocketOptions.TCP_NODELAY), false));
        assertFalse(socket.isTcpNoDelay());
        assertTrue(socket.setOption(NioChannelOption.of(StandardSocketOptions.SO_RCVBUF), 64 * KIB));
        assertEquals(64 * KIB, socket.getReceiveBufferSize());
        assertEquals(64 * KIB, socket.getOption(NioChannelOption.of(StandardSocketOptions.SO_RCVBUF)));
        assertTrue(server.setOption(NioChannelOption.of(StandardSocketOptions.SO_REUSEADDR), false));
        assertFalse(server.isReuseAddress());

        DatagramChannelConfig datagrams = new UcxDatagramChannel().config();
        assertTrue(datagrams.setOption(NioChannelOption.of(StandardSocketOptions.SO_BROADCAST), true));
        assertTrue(datagrams.isBroadcast());
        assertTrue(datagrams.setOption(NioChannelOption.of(StandardSocketOptions.IP_MULTICAST_TTL), 7));
        assertEquals(7, datagrams.getTimeToLive());
        assertTrue(datagrams.setOption(NioChannelOption.of(StandardSocketOptions.IP_MULTICAST_LOOP), false));
        assertTrue(datagrams.isLoopbackModeDisabled());
        assertEquals(false, datagrams.getOption(NioChannelOption.of(StandardSocketOptions.IP_MULTICAST_LOOP)));
    }

    /** With these Lettuce, for one, has its connections watched. */
    @Test
    void keepAliveIsTakenFromTheJdksOptions() {
        Map<SocketOption<Integer>, SocketSetting> settings = Map.of(
                ExtendedSocketOptions.TCP_KEEPIDLE, SocketSetting.KEEP_IDLE_SECONDS,
                ExtendedSocketOptions.TCP_KEEPINTERVAL, SocketSetting.KEEP_INTERVAL_SECONDS,
                ExtendedSocketOptions.TCP_KEEPCOUNT, SocketSetting.KEEP_COUNT);
        settings.forEach((option, setting) -> {
            assertTrue(socket.setOption(NioChannelOption.of(option), 17), option.name());
            assertEquals(17, socket.socketOptions().get(setting, -1), option.name());
        });
    }

    @Test
    void whatMeansNothingHereIsAcceptedWithoutAnEffect() {
        Map<ChannelOption<?>, Object> before = new HashMap<>(socket.getOptions());
        assertTrue(socket.setOption(ofEpoll("TCP_CORK"), true));
        assertTrue(server.setOption(ofEpoll("TCP_FASTOPEN"), 17));
        assertTrue(socket.setOption(ofEpoll("TCP_QUICKACK"), true));
        for (String name : new String[] {"IO_URING_BUFFER_GROUP_ID", "IO_URING_WRITE_ZERO_COPY_THRESHOLD"}) {
            ChannelOption<Object> option = ChannelOption.valueOf("io.netty.channel.uring.IoUringChannelOption#" + name);
            assertTrue(socket.setOption(option, 17), name);
        }
        assertEquals(before, new HashMap<>(socket.getOptions()));
        // The bytes would not be signed.
        assertFalse(socket.setOption(ofEpoll("TCP_MD5SIG"), Map.of()));
    }

    // ------------------------------------------------------------------------------------------- bad values

    @Test
    void badValuesOfASocketChannelAreTold() {
        assertRefused(socket, ChannelOption.SO_RCVBUF, 0);
        assertRefused(socket, ChannelOption.SO_RCVBUF, -1);
        assertRefused(socket, ChannelOption.SO_SNDBUF, 0);
        assertRefused(socket, ChannelOption.SO_SNDBUF, -1);
        assertRefused(socket, UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 0);
        assertRefused(socket, UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, -1);
        assertRefused(socket, UcxChannelOption.CLOSE_TIMEOUT_MILLIS, -1);
    }

    @Test
    void badValuesOfAServerChannelAreTold() {
        assertRefused(server, ChannelOption.SO_BACKLOG, -1);
        assertRefused(server, ChannelOption.SO_RCVBUF, 0);
        assertRefused(server, ChannelOption.SO_RCVBUF, -1);
    }

    private static void assertRefused(ChannelConfig config, ChannelOption<Integer> option, int value) {
        Integer before = config.getOption(option);
        assertSays(option, value, assertThrows(IllegalArgumentException.class,
                () -> config.setOption(option, value), option::toString));
        assertEquals(before, config.getOption(option), option::toString);
    }

    private static void assertSays(ChannelOption<?> option, Object value, Throwable failure) {
        String name = option.name().substring(option.name().lastIndexOf('#') + 1);
        assertTrue(failure.getMessage().contains(name), failure::toString);
        assertTrue(failure.getMessage().contains(String.valueOf(value)), failure::toString);
    }

    @Test
    void noOptionTakesNull() {
        for (Channel channel : new Channel[] {new UcxSocketChannel(), new UcxServerSocketChannel()}) {
            for (ChannelOption<?> option : channel.config().getOptions().keySet()) {
                Object before = channel.config().getOption(option);
                assertThrows(NullPointerException.class, () -> channel.config().setOption(option, null),
                        option::toString);
                assertEquals(before, channel.config().getOption(option), option::toString);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- system properties

    @Test
    void theWaitStrategyOfThePropertyIsTheDefault() {
        withProperty("io.github.nettyucx.waitStrategy", " park ",
                () -> assertEquals(UcxWaitStrategy.PARK, UcxWaitStrategy.byDefault()));
        assertEquals(UcxWaitStrategy.ADAPTIVE, UcxWaitStrategy.byDefault());
    }

    @Test
    void aWaitStrategyThatThereIsNotIsTold() {
        assertBadProperty("io.github.nettyucx.waitStrategy", "foo", "BUSY_SPIN, PARK, ADAPTIVE");
    }

    @Test
    void aSpinTimeOutOfRangeIsTold() {
        assertBadProperty("io.github.nettyucx.spinMicros", "-1", "0 to 1000000 microseconds");
        assertBadProperty("io.github.nettyucx.spinMicros", "1000001", "0 to 1000000 microseconds");
    }

    private static void assertBadProperty(String name, String value, String expected) {
        withProperty(name, value, () -> {
            Throwable failure = assertThrows(RuntimeException.class, () -> new UcxEventLoopGroup(1));
            if (failure instanceof IllegalStateException) {
                // "failed to create a child event loop"
                failure = failure.getCause();
            }
            assertInstanceOf(IllegalArgumentException.class, failure);
            String message = failure.getMessage();
            assertTrue(message.contains(name), message);
            assertTrue(message.contains(value), message);
            assertTrue(message.contains(expected), message);
        });
    }

    private static void withProperty(String name, String value, Executable test) {
        String before = System.setProperty(name, value);
        try {
            test.execute();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        } finally {
            if (before == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, before);
            }
        }
    }
}
