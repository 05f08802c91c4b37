// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxConnectMode;
import io.github.nettyucx.channel.UcxPlainPeers;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.junit.jupiter.api.Assumptions;

import java.util.List;
import java.util.Locale;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What stands on the two sides of a connection. */
// The groups are those of Netty 4.1, which 4.2 has as well, and would not have one use.
@SuppressWarnings("deprecation")
enum Pair {

    /** UCX on both sides, over shared memory. */
    SHM(Lane.SHM),
    /** UCX on both sides, over UCX's own TCP. */
    TCP(Lane.TCP),
    /** UCX on both sides, over the kernel's sockets. */
    SOCKET(Lane.SOCKET),
    /** A server of UCX, and a client of Netty's NIO transport. */
    NIO_CLIENT(null),
    /** A client of UCX, and a server of Netty's NIO transport. */
    NIO_SERVER(null),
    /** A server of UCX, and a client of Netty's epoll transport. */
    EPOLL_CLIENT(null),
    /** A client of UCX, and a server of Netty's epoll transport. */
    EPOLL_SERVER(null);

    /** How long a client that says nothing is given to say HELLO: some tests have the server speak first. */
    private static final int GRACE_MILLIS = 20;

    /** The loops of Netty's own transports. */
    private static final class Nio {
        private static final EventLoopGroup GROUP =
                new NioEventLoopGroup(SuiteLoops.THREADS, new DefaultThreadFactory("suite-nio", true));
    }

    private static final class NativeEpoll {
        private static final EventLoopGroup GROUP =
                new EpollEventLoopGroup(SuiteLoops.THREADS, new DefaultThreadFactory("suite-epoll", true));
    }

    private final Lane lane;
    private SuiteLoops loops;

    /** @param lane that all connections are to take; {@code null} if one side is not of UCX */
    Pair(Lane lane) {
        this.lane = lane;
    }

    // ------------------------------------------------------------------------------------------- which it is

    boolean hasUcxServer() {
        return this != NIO_SERVER && this != EPOLL_SERVER;
    }

    boolean hasUcxClient() {
        return this != NIO_CLIENT && this != EPOLL_CLIENT;
    }

    /** Whether one side is an ordinary TCP socket. */
    boolean isPlain() {
        return lane == null;
    }

    /** Whether a connection may go over the kernel's socket. */
    boolean allowsSocket() {
        return isPlain() || lane == Lane.SOCKET;
    }

    /** Skips a test that this process cannot run. */
    void assumeAvailable() {
        if (this == EPOLL_CLIENT || this == EPOLL_SERVER) {
            Assumptions.assumeTrue(Epoll.isAvailable(),
                    () -> "Netty's epoll transport: " + Epoll.unavailabilityCause());
        }
    }

    // ------------------------------------------------------------------------------------------- its two sides

    private synchronized SuiteLoops loops() {
        if (loops == null) {
            loops = new SuiteLoops("suite-" + name().toLowerCase(Locale.ROOT));
        }
        return loops;
    }

    ServerBootstrap server() {
        ServerBootstrap bootstrap = new ServerBootstrap();
        return switch (this) {
            case NIO_SERVER -> bootstrap.group(Nio.GROUP).channel(NioServerSocketChannel.class);
            case EPOLL_SERVER -> bootstrap.group(NativeEpoll.GROUP).channel(EpollServerSocketChannel.class);
            case NIO_CLIENT, EPOLL_CLIENT -> takingAnyPeer(bootstrap, loops());
            default -> bootstrap.group(loops().accepting, loops().loops).channel(UcxServerSocketChannel.class)
                    .childOption(UcxChannelOption.LANES, lane.toString());
        };
    }

    Bootstrap client() {
        Bootstrap bootstrap = new Bootstrap();
        return switch (this) {
            case NIO_CLIENT -> bootstrap.group(Nio.GROUP).channel(NioSocketChannel.class);
            case EPOLL_CLIENT -> bootstrap.group(NativeEpoll.GROUP).channel(EpollSocketChannel.class);
            case NIO_SERVER, EPOLL_SERVER -> sayingNoHello(bootstrap, loops());
            default -> expectingUcx(bootstrap, loops()).option(UcxChannelOption.LANES, lane.toString());
        };
    }

    /** A server that ordinary clients may connect to, even such as wait for its first words. */
    static ServerBootstrap takingAnyPeer(ServerBootstrap bootstrap, SuiteLoops loops) {
        return bootstrap.group(loops.accepting, loops.loops).channel(UcxServerSocketChannel.class)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.ALL)
                .childOption(UcxChannelOption.PLAIN_GRACE_MILLIS, GRACE_MILLIS);
    }

    /** A client for servers of UCX. */
    static Bootstrap expectingUcx(Bootstrap bootstrap, SuiteLoops loops) {
        return bootstrap.group(loops.loops).channel(UcxSocketChannel.class);
    }

    /** A client for ordinary servers. */
    static Bootstrap sayingNoHello(Bootstrap bootstrap, SuiteLoops loops) {
        return expectingUcx(bootstrap, loops).option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.PLAIN);
    }

    /** The same for tests that ask for a list of what they are to run with. */
    List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> factories() {
        return List.of(new BootstrapComboFactory<>() {
            @Override
            public ServerBootstrap newServerInstance() {
                return server();
            }

            @Override
            public Bootstrap newClientInstance() {
                return client();
            }
        });
    }

    // ------------------------------------------------------------------------------------------- what they have done

    private boolean isExpected(String lane) {
        return (isPlain() ? Lane.SOCKET : this.lane).has(lane);
    }

    void assertNoOtherLaneTaken() {
        Set<String> taken = loops().lanes().keySet();
        assertTrue(taken.stream().allMatch(this::isExpected), () -> "lanes of " + this + ": " + taken);
    }

    /** How many have taken the lane of this pair so far, by its channels of this transport: with two, it counts twice. */
    long connections() {
        return loops().lanes().entrySet().stream().filter(lane -> isExpected(lane.getKey()))
                .mapToLong(lane -> lane.getValue().connectionsOpened()).sum();
    }
}
