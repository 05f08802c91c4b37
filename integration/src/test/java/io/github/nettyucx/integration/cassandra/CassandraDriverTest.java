// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Cassandra's driver over UCX, against a node that speaks just enough of its protocol. */
@Timeout(120)
class CassandraDriverTest {

    private static CqlSession session(InetSocketAddress node) {
        DriverConfigLoader configuration = DriverConfigLoader.programmaticBuilder()
                .withString(DefaultDriverOption.PROTOCOL_VERSION, "V4")
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                .withBoolean(DefaultDriverOption.METADATA_TOKEN_MAP_ENABLED, false)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(30))
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
                .withInt(DefaultDriverOption.NETTY_IO_SIZE, 1)
                .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
                .build();
        return new UcxSessionBuilder().addContactPoint(node).withLocalDatacenter("dc1")
                .withConfigLoader(configuration).build();
    }

    @Test
    void aSessionGetsRows() throws Exception {
        try (FakeNode node = new FakeNode()) {
            EventLoopGroup loops;
            try (CqlSession session = session(node.address())) {
                loops = ((InternalDriverContext) session.getContext()).getNettyOptions().ioEventLoopGroup();
                assertInstanceOf(UcxEventLoopGroup.class, loops);
                ResultSet rows = session.execute("SELECT greeting FROM greetings");
                assertEquals("hello over UCX", rows.one().getString("greeting"));
                assertThrows(SyntaxError.class, () -> session.execute("SELECT nonsense"));
            }
            assertTrue(loops.isTerminated(), "closing the session has not ended its loops");
            assertEquals(Set.of(UcxSocketChannel.class), Set.copyOf(node.channelClasses()));
            assertTrue(node.queries().contains("SELECT cluster_name FROM system.local"), node.queries()::toString);
        }
    }

    /** The driver's own error, and none of the transport's. */
    @Test
    void aPeerThatSpeaksAnotherProtocolIsReportedByTheDriver() throws Exception {
        EventLoopGroup group = new UcxEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext context) {
                                context.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
                            }
                        });
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        AllNodesFailedException failure = assertThrows(AllNodesFailedException.class,
                () -> session((InetSocketAddress) server.localAddress()));
        assertSame(1, failure.getAllErrors().size());
        // Of the bytes, which have all come: zeros.
        assertTrue(reasons(failure).anyMatch(reason -> reason instanceof IllegalArgumentException
                && reason.getMessage().contains("opcode: 0 in protocol 0")), () -> reasons(failure).toList().toString());
        assertTrue(reasons(failure).noneMatch(IOException.class::isInstance), () -> reasons(failure).toList().toString());
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void nobodyListens() throws Exception {
        AllNodesFailedException failure = assertThrows(AllNodesFailedException.class,
                () -> session(new InetSocketAddress("127.0.0.1", 1)));
        // The driver sends its first request whether or not it is connected, and keeps the reason beside that failure.
        assertTrue(reasons(failure).anyMatch(reason -> reason instanceof ConnectException
                && reason.getMessage().contains("refused")), () -> reasons(failure).toList().toString());
    }

    /** A failure, and what has led to it. */
    private static Stream<Throwable> reasons(Throwable failure) {
        Stream<Throwable> below = Stream.concat(Stream.ofNullable(failure.getCause()), Stream.of(failure.getSuppressed()));
        if (failure instanceof AllNodesFailedException all) {
            below = Stream.concat(below, all.getAllErrors().values().stream().flatMap(List::stream));
        }
        return Stream.concat(Stream.of(failure), below.flatMap(CassandraDriverTest::reasons));
    }
}
