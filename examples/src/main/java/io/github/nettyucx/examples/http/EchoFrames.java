// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.function.Consumer;

/**
 * A WebSocket that returns what it gets, frame by frame. Netty's own handler of HTTP/1.1 keeps pings to itself and answers
 * them; there is none for HTTP/2.
 */
final class EchoFrames extends SimpleChannelInboundHandler<WebSocketFrame> {
    private final Consumer<ChannelHandlerContext> end;

    /**
     * @param end ends the connection, or the stream, when both sides have said that they are done
     */
    EchoFrames(Consumer<ChannelHandlerContext> end) {
        this.end = end;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
        switch (frame) {
            case CloseWebSocketFrame close -> ctx.writeAndFlush(close.retain()).addListener(_ -> end.accept(ctx));
            case PingWebSocketFrame ping -> ctx.write(new PongWebSocketFrame(ping.content().retain()));
            case PongWebSocketFrame _ -> { }
            default -> ctx.write(frame.retain());
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
        ctx.fireChannelReadComplete();
    }
}
