// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/** Gives answers to those who wait for them: in the order of the requests, which on a stream of HTTP/2 is just one. */
final class ReplyHandler extends SimpleChannelInboundHandler<HttpObject> {
    private final Queue<Exchange> waiting = new ArrayDeque<>();
    private HttpResponse head;
    private long length;
    private boolean over;

    /** On the event loop, before the request is written. */
    void expect(Exchange exchange) {
        if (over) {
            exchange.reply().completeExceptionally(new IOException("the connection is closed"));
        } else {
            waiting.add(exchange);
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) throws IOException {
        if (part.decoderResult().isFailure()) {
            throw new IOException("the answer makes no sense", part.decoderResult().cause());
        }
        if (part instanceof HttpResponse response
                && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
            head = response;
            length = 0;
        }
        if (head == null) {
            return;
        }
        if (waiting.isEmpty()) {
            throw new IOException("an answer that nobody has asked for");
        }
        if (part instanceof HttpContent content) {
            length += content.content().readableBytes();
            waiting.peek().content().accept(content.content());
        }
        if (part instanceof LastHttpContent) {
            var reply = new Reply(head.status().code(), head.headers(), length);
            head = null;
            waiting.remove().reply().complete(reply);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new IOException("the server closed the connection before it had answered"));
    }

    private void fail(Throwable cause) {
        over = true;
        for (Exchange exchange; (exchange = waiting.poll()) != null;) {
            exchange.reply().completeExceptionally(cause);
        }
    }
}
