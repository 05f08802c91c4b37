// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** Netty's handlers for a client's connection that speaks HTTP/2 from its first byte on. */
final class Http2Client extends ChannelInitializer<Channel> {
    /** What the server may send of one answer, and of all together, ahead of us; the protocol's default is 64 KiB. */
    private static final int STREAM_WINDOW = 1 << 20;
    private static final int CONNECTION_WINDOW = 4 << 20;
    private static final int DEFAULT_WINDOW = 65_535;

    private final CompletableFuture<Boolean> takesWebSockets = new CompletableFuture<>();

    CompletableFuture<Boolean> takesWebSockets() {
        return takesWebSockets;
    }

    @Override
    protected void initChannel(Channel connection) {
        connection.pipeline().addLast(
                Http2FrameCodecBuilder.forClient()
                        // More streams than the server takes at a time wait for their turn.
                        .encoderEnforceMaxConcurrentStreams(true)
                        .initialSettings(Http2Settings.defaultSettings().pushEnabled(false)
                                .initialWindowSize(STREAM_WINDOW)).build(),
                new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()),
                new Settings());
    }

    private final class Settings extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame(CONNECTION_WINDOW - DEFAULT_WINDOW));
            ctx.fireChannelActive();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            if (frame instanceof Http2SettingsFrame told) {
                takesWebSockets.complete(Boolean.TRUE.equals(told.settings().connectProtocolEnabled()));
            }
            ReferenceCountUtil.release(frame);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            takesWebSockets.completeExceptionally(new IOException("the server closed the connection"));
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            takesWebSockets.completeExceptionally(cause);
            ctx.close();
        }
    }
}
