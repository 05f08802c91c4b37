// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.cassandra;

import com.datastax.oss.driver.internal.core.protocol.ByteBufPrimitiveCodec;
import com.datastax.oss.driver.internal.core.protocol.FrameDecoder;
import com.datastax.oss.driver.internal.core.protocol.FrameEncoder;
import com.datastax.oss.protocol.internal.Compressor;
import com.datastax.oss.protocol.internal.Frame;
import com.datastax.oss.protocol.internal.FrameCodec;
import com.datastax.oss.protocol.internal.Message;
import com.datastax.oss.protocol.internal.ProtocolConstants;
import com.datastax.oss.protocol.internal.request.Options;
import com.datastax.oss.protocol.internal.request.Query;
import com.datastax.oss.protocol.internal.request.Register;
import com.datastax.oss.protocol.internal.request.Startup;
import com.datastax.oss.protocol.internal.response.Error;
import com.datastax.oss.protocol.internal.response.Ready;
import com.datastax.oss.protocol.internal.response.Supported;
import com.datastax.oss.protocol.internal.response.result.ColumnSpec;
import com.datastax.oss.protocol.internal.response.result.DefaultRows;
import com.datastax.oss.protocol.internal.response.result.RawType;
import com.datastax.oss.protocol.internal.response.result.RowsMetadata;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** So much of a Cassandra node, over UCX, that the driver opens a session and gets rows. Protocol version 4. */
final class FakeNode implements AutoCloseable {

    private static final int MAX_FRAME = 16 * 1024 * 1024;
    private static final String VERSION = "4.1.0";

    private final EventLoopGroup group = new UcxEventLoopGroup(1);
    private final List<String> queries = new CopyOnWriteArrayList<>();
    private final List<Class<?>> channelClasses = new CopyOnWriteArrayList<>();
    private final Channel server;

    FakeNode() throws InterruptedException {
        server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channelClasses.add(channel.getClass());
                        FrameCodec<ByteBuf> codec = FrameCodec.defaultServer(
                                new ByteBufPrimitiveCodec(channel.alloc()), Compressor.none());
                        channel.pipeline().addLast(new FrameDecoder(codec, MAX_FRAME),
                                new FrameEncoder(codec, MAX_FRAME), new Answers());
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    List<String> queries() {
        return queries;
    }

    List<Class<?>> channelClasses() {
        return channelClasses;
    }

    private final class Answers extends SimpleChannelInboundHandler<Frame> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, Frame request) {
            context.writeAndFlush(Frame.forResponse(ProtocolConstants.Version.V4, request.streamId, null,
                    Frame.NO_PAYLOAD, List.of(), answer(request.message)));
        }
    }

    private Message answer(Message request) {
        if (request instanceof Options) {
            return new Supported(Map.of("CQL_VERSION", List.of("3.4.6")));
        }
        if (request instanceof Startup || request instanceof Register) {
            return new Ready();
        }
        if (request instanceof Query query) {
            queries.add(query.query);
            return rows(query.query);
        }
        return new Error(ProtocolConstants.ErrorCode.PROTOCOL_ERROR, "not expected: " + request);
    }

    private Message rows(String query) {
        Table table = new Table();
        if (query.contains("system.local")) {
            return table.text("key", "local").text("cluster_name", "fake").text("data_center", "dc1")
                    .text("rack", "r1").text("release_version", VERSION)
                    .uuid("host_id", new UUID(1, 1)).uuid("schema_version", new UUID(2, 2))
                    .address("rpc_address").address("broadcast_address").row();
        }
        if (query.contains("system.peers")) {
            return table.text("peer", "").none();
        }
        if (query.equals("SELECT greeting FROM greetings")) {
            return table.text("greeting", "hello over UCX").row();
        }
        return new Error(ProtocolConstants.ErrorCode.SYNTAX_ERROR, "not known here: " + query);
    }

    /** Columns, and one row of them. */
    private static final class Table {

        private final List<ColumnSpec> columns = new ArrayList<>();
        private final List<ByteBuffer> row = new ArrayList<>();

        private Table column(String name, int type, ByteBuffer value) {
            columns.add(new ColumnSpec("fake", "fake", name, columns.size(), RawType.PRIMITIVES.get(type)));
            row.add(value);
            return this;
        }

        Table text(String name, String value) {
            return column(name, ProtocolConstants.DataType.VARCHAR,
                    ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
        }

        Table uuid(String name, UUID value) {
            return column(name, ProtocolConstants.DataType.UUID, ByteBuffer.allocate(16)
                    .putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits()).flip());
        }

        /** 127.0.0.1, as all here. */
        Table address(String name) {
            return column(name, ProtocolConstants.DataType.INET, ByteBuffer.wrap(new byte[] {127, 0, 0, 1}));
        }

        Message row() {
            return rows(new ArrayDeque<>(List.of(row)));
        }

        Message none() {
            return rows(new ArrayDeque<>());
        }

        private Message rows(Queue<List<ByteBuffer>> rows) {
            return new DefaultRows(new RowsMetadata(columns, null, null, null), rows);
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
