// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A WebSocket of a client: a connection of HTTP/1.1 that has been upgraded, or a stream of HTTP/2. */
final class WebSocketClient implements AutoCloseable {
    private static final int LARGEST_ANSWER = 64 * 1024;
    /** Comes after the last frame. */
    private static final Object END = new Object();

    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> open = new CompletableFuture<>();
    private Channel connection;
    private Channel channel;

    /** Returns when both sides have agreed on it. */
    static WebSocketClient open(ClientConnections connections) throws InterruptedException {
        var socket = new WebSocketClient();
        try {
            if (connections.target().protocol() == HttpProtocol.HTTP_2) {
                socket.onStream(connections);
            } else {
                socket.upgraded(connections);
            }
            ClientConnections.await(socket.open, "a WebSocket");
            return socket;
        } catch (ExampleFailure | InterruptedException e) {
            socket.close();
            throw e;
        }
    }

    private void upgraded(ClientConnections connections) throws InterruptedException {
        var target = connections.target();
        var config = WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri(URI.create((target.trust() == null ? "ws://" : "wss://") + target.server()
                        + ServerPipeline.ECHO_PATH))
                .customHeaders(EmptyHttpHeaders.INSTANCE)
                .maxFramePayloadLength(ServerPipeline.LARGEST_FRAME)
                // What comes is for the checks to see.
                .handleCloseFrames(false).dropPongFrames(false).build();
        channel = connections.connect(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel upgraded) {
                upgraded.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(LARGEST_ANSWER),
                        new WebSocketClientProtocolHandler(config), new Frames());
            }
        });
        connection = channel;
    }

    private void onStream(ClientConnections connections) throws InterruptedException {
        var target = connections.target();
        var opened = (Http2Connection) connections.open();
        connection = opened.channel();
        if (!ClientConnections.await(opened.takesWebSockets(), "the server's settings")) {
            throw new ExampleFailure("the server takes no WebSockets on streams of HTTP/2");
        }
        var stream = opened.openStream(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new StreamAnswer());
            }
        });
        channel = ClientConnections.await(stream, "a stream");
        channel.writeAndFlush(new DefaultHttp2HeadersFrame(WebSocketStream.request(target.scheme(),
                target.server().toString(), ServerPipeline.ECHO_PATH)));
    }

    void send(WebSocketFrame frame) throws InterruptedException {
        var written = channel.writeAndFlush(frame).await();
        if (!written.isSuccess()) {
            throw new ExampleFailure("cannot send: " + Explanation.of(written.cause()), written.cause());
        }
    }

    /** The next frame, which is then the caller's to release. */
    WebSocketFrame next() throws InterruptedException {
        return switch (poll()) {
            case WebSocketFrame frame -> frame;
            case Throwable failure ->
                    throw new ExampleFailure("the WebSocket failed: " + Explanation.of(failure), failure);
            default -> throw new ExampleFailure("the WebSocket ended");
        };
    }

    /** Waits for the end behind the last frame. */
    void awaitEnd() throws InterruptedException {
        var found = poll();
        if (found != END) {
            ReferenceCountUtil.release(found);
            throw new ExampleFailure("expected the WebSocket's end, found " + found);
        }
    }

    private Object poll() throws InterruptedException {
        var found = received.poll(ClientConnections.PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (found == null) {
            throw new ExampleFailure("nothing came for " + ClientConnections.PATIENCE_SECONDS + " s");
        }
        return found;
    }

    @Override
    public void close() {
        if (connection != null) {
            connection.close().awaitUninterruptibly();
        }
        received.forEach(ReferenceCountUtil::release);
    }

    private final class Frames extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
            received.add(frame.retain());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                open.complete(null);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            open.completeExceptionally(new IOException("the server refused it"));
            received.add(END);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            open.completeExceptionally(cause);
            received.add(cause);
        }
    }

    /** Sees the server's answer to a request for a stream. */
    private final class StreamAnswer extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            if (frame instanceof Http2HeadersFrame head && "200".contentEquals(head.headers().status())) {
                install(ctx.pipeline());
                open.complete(null);
            } else {
                ReferenceCountUtil.release(frame);
                open.completeExceptionally(new IOException("the server refused it"));
            }
        }

        private void install(ChannelPipeline pipeline) {
            pipeline.remove(this);
            pipeline.addLast(new StreamEnd());
            WebSocketStream.install(pipeline, false, ServerPipeline.LARGEST_FRAME);
            pipeline.addLast(new Frames());
        }
    }

    /** The end of the server's side of a stream, which closes as soon as ours has ended as well. */
    private static final class StreamEnd extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            var end = frame instanceof Http2DataFrame data && data.isEndStream();
            ctx.fireChannelRead(frame);
            if (end) {
                WebSocketStream.end(ctx);
            }
        }
    }
}
