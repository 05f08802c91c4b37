// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Each request has a stream of its own; answers come in any order. */
final class Http2Connection extends HttpConnection {
    private final Http2Client handlers;

    Http2Connection(Channel channel, HttpTarget target, Http2Client handlers) {
        super(channel, target);
        this.handlers = handlers;
    }

    @Override
    void send(List<Exchange> exchanges) {
        channel().eventLoop().execute(() -> exchanges.forEach(this::send));
    }

    private void send(Exchange exchange) {
        var replies = new ReplyHandler();
        replies.expect(exchange);
        openStream(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false), replies);
            }
        }).whenComplete((stream, failure) -> {
            if (failure == null) {
                stream.writeAndFlush(exchange.request())
                        .addListener(written -> fail(exchange.reply(), written.cause()));
            } else {
                fail(exchange.reply(), failure);
            }
        });
    }

    private static void fail(CompletableFuture<?> future, Throwable cause) {
        if (cause != null) {
            future.completeExceptionally(cause);
        }
    }

    CompletableFuture<Http2StreamChannel> openStream(ChannelHandler handler) {
        var opened = new CompletableFuture<Http2StreamChannel>();
        new Http2StreamChannelBootstrap(channel()).handler(handler).open().addListener(opening -> {
            if (opening.isSuccess()) {
                opened.complete((Http2StreamChannel) opening.getNow());
            } else {
                opened.completeExceptionally(opening.cause());
            }
        });
        return opened;
    }

    /** Whether the server takes WebSockets on streams, which it tells in its settings. */
    CompletableFuture<Boolean> takesWebSockets() {
        return handlers.takesWebSockets();
    }
}
