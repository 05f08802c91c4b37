// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.Explanation;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http2.CleartextHttp2ServerUpgradeHandler;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.stream.ChunkedWriteHandler;

/**
 * Netty's handlers for a connection that speaks HTTP/1.1 or HTTP/2, as its client likes: with TLS that is agreed on by
 * ALPN, without it is told by the client's first bytes.
 */
final class ServerPipeline extends ChannelInitializer<SocketChannel> {
    static final String ECHO_PATH = "/echo";
    static final int LARGEST_FRAME = 256 * 1024;
    static final int STREAMS = 100;
    private static final int LARGEST_REQUEST = 64 * 1024;

    private final SslContext tls;
    private final FileDirectory files;

    /**
     * @param tls {@code null} for none
     */
    ServerPipeline(SslContext tls, FileDirectory files) {
        this.tls = tls;
        this.files = files;
    }

    @Override
    protected void initChannel(SocketChannel connection) {
        var pipeline = connection.pipeline();
        if (tls == null) {
            var codec = new HttpServerCodec();
            // No upgrade is offered: clients of HTTP/2 know beforehand what the server speaks.
            pipeline.addLast(new CleartextHttp2ServerUpgradeHandler(codec,
                    new HttpServerUpgradeHandler(codec, _ -> null), new Http2Chosen()));
            pipeline.addLast(new Http1Chosen());
        } else {
            pipeline.addLast(tls.newHandler(connection.alloc()), new Negotiation());
        }
    }

    private void http1(ChannelPipeline pipeline) {
        pipeline.addLast(
                new HttpServerKeepAliveHandler(),
                new HttpObjectAggregator(LARGEST_REQUEST),
                // Holds back what a client asks for before it has taken what it asked for earlier.
                new FlowControlHandler(),
                new ChunkedWriteHandler(),
                new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                        .websocketPath(ECHO_PATH).maxFramePayloadLength(LARGEST_FRAME)
                        .handleCloseFrames(false).build()),
                new EchoFrames(ChannelHandlerContext::close),
                new FileHandler(files, tls == null),
                new Dropped());
    }

    private void http2(ChannelPipeline pipeline) {
        pipeline.addLast(
                Http2FrameCodecBuilder.forServer().initialSettings(Http2Settings.defaultSettings()
                        .maxConcurrentStreams(STREAMS).connectProtocolEnabled(true)).build(),
                new Http2MultiplexHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline().addLast(new StreamChosen());
                    }
                }),
                new Dropped());
    }

    private void stream(ChannelPipeline pipeline) {
        pipeline.addLast(
                new Http2StreamFrameToHttpObjectCodec(true),
                new HttpObjectAggregator(LARGEST_REQUEST),
                new ChunkedWriteHandler(),
                new FileHandler(files, false),
                new Dropped());
    }

    /** Is added when a client without TLS has begun with the preface of HTTP/2. */
    private final class Http2Chosen extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel connection) {
            connection.pipeline().remove(Http1Chosen.class);
            connection.pipeline().addFirst(new FlushConsolidationHandler());
            http2(connection.pipeline());
        }
    }

    /** Sees the first request of a client without TLS that has begun with anything else. */
    private final class Http1Chosen extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object request) {
            ctx.pipeline().addFirst(new FlushConsolidationHandler());
            http1(ctx.pipeline());
            ctx.fireChannelRead(request);
            ctx.pipeline().remove(this);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Dropped.tell(ctx, cause);
            ctx.close();
        }
    }

    private final class Negotiation extends ApplicationProtocolNegotiationHandler {
        private Negotiation() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
            var pipeline = ctx.pipeline();
            pipeline.addLast(new FlushConsolidationHandler());
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                http2(pipeline);
            } else {
                pipeline.addLast(new HttpServerCodec());
                http1(pipeline);
            }
        }

        @Override
        protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
            Dropped.tell(ctx, cause);
            ctx.close();
        }
    }

    /** Sees the head of a stream: a request, or a WebSocket. */
    private final class StreamChosen extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            var pipeline = ctx.pipeline();
            if (frame instanceof Http2HeadersFrame head && WebSocketStream.isRequest(head.headers(), ECHO_PATH)) {
                ctx.writeAndFlush(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200")));
                WebSocketStream.install(pipeline, true, LARGEST_FRAME);
                pipeline.addLast(new EchoFrames(WebSocketStream::end), new ReadsWhileWritable(), new Dropped());
            } else {
                stream(pipeline);
                ctx.fireChannelRead(frame);
            }
            pipeline.remove(this);
        }
    }

    /** Takes from a client no more than it takes from us. */
    private static final class ReadsWhileWritable extends ChannelInboundHandlerAdapter {
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
            ctx.fireChannelWritabilityChanged();
        }
    }

    /** What no other handler has dealt with ends the connection, or the stream, and is told. */
    @ChannelHandler.Sharable
    private static final class Dropped extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // Of frames that make no sense the client has been told, and the end is near.
            if (!(cause instanceof CorruptedWebSocketFrameException)) {
                tell(ctx, cause);
                ctx.close();
            }
        }

        private static void tell(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: "
                    + Explanation.of(cause));
        }
    }
}
