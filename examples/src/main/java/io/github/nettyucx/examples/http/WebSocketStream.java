// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.MessageToMessageCodec;
import io.netty.handler.codec.http.websocketx.Utf8FrameValidator;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;

/**
 * A WebSocket on a stream of HTTP/2 (RFC 8441). Netty has the frames of both, and no handler that joins them: the
 * stream is asked for by a CONNECT with a {@code :protocol}, and from the answer on its data are what a TCP connection
 * would carry.
 */
final class WebSocketStream {
    static final String PROTOCOL = "websocket";

    private WebSocketStream() {
    }

    /** What a client asks with. */
    static Http2Headers request(String scheme, String authority, String path) {
        var headers = new DefaultHttp2Headers().method("CONNECT").scheme(scheme).authority(authority).path(path);
        headers.set(Http2Headers.PseudoHeaderName.PROTOCOL.value(), PROTOCOL);
        return headers.set("sec-websocket-version", "13");
    }

    /** Whether a request is for a WebSocket at that path. */
    static boolean isRequest(Http2Headers headers, String path) {
        return "CONNECT".contentEquals(textOf(headers.method()))
                && PROTOCOL.contentEquals(textOf(headers.get(Http2Headers.PseudoHeaderName.PROTOCOL.value())))
                && path.contentEquals(textOf(headers.path()))
                && "13".contentEquals(textOf(headers.get("sec-websocket-version")));
    }

    private static CharSequence textOf(CharSequence value) {
        return value == null ? "" : value;
    }

    /**
     * Makes WebSocket frames of a stream's data from now on.
     *
     * @param server whether this is the server's side, whose peer masks what it sends
     */
    static void install(ChannelPipeline pipeline, boolean server, int largestFrame) {
        pipeline.addLast(new DataFrames(),
                new WebSocket13FrameDecoder(WebSocketDecoderConfig.newBuilder()
                        .expectMaskedFrames(server).maxFramePayloadLength(largestFrame).build()),
                new WebSocket13FrameEncoder(!server),
                new Utf8FrameValidator());
    }

    /** Nothing follows from this side. */
    static void end(ChannelHandlerContext ctx) {
        ctx.channel().writeAndFlush(new DefaultHttp2DataFrame(true));
    }

    private static final class DataFrames extends MessageToMessageCodec<Http2DataFrame, ByteBuf> {
        @Override
        protected void encode(ChannelHandlerContext ctx, ByteBuf bytes, List<Object> out) {
            out.add(new DefaultHttp2DataFrame(bytes.retain()));
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, Http2DataFrame frame, List<Object> out) {
            out.add(frame.content().retain());
        }
    }
}
