// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.stream.ChunkedFile;
import java.io.IOException;

/**
 * Answers requests with files: of a connection of HTTP/1.1, or the one of a stream of HTTP/2. Nothing else in its pipeline
 * decides whether the channel reads.
 */
final class FileHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    /** Each is a file that is open; the requests behind them stay in the {@code FlowControlHandler}. */
    private static final int MOST_AT_A_TIME = 16;
    private static final int CHUNK = 64 * 1024;

    private final FileDirectory files;
    private final boolean regions;
    private int unsent;

    /**
     * @param regions whether files go out as {@code FileRegion}s, past all handlers; TLS and HTTP/2 have to see their
     *                bytes
     */
    FileHandler(FileDirectory files, boolean regions) {
        this.files = files;
        this.regions = regions;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) throws IOException {
        if (request.decoderResult().isFailure()) {
            // What follows on this connection may be anything.
            refuse(ctx);
            return;
        }
        unsent++;
        readAsLongAsThereIsRoom(ctx);
        send(ctx, files.answer(request)).addListener(sent -> {
            unsent--;
            readAsLongAsThereIsRoom(ctx);
            if (!sent.isSuccess()) {
                // The head has promised more than has been sent.
                ctx.close();
            }
        });
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        readAsLongAsThereIsRoom(ctx);
        ctx.fireChannelWritabilityChanged();
    }

    /** A WebSocket's frames, which follow the requests on a connection of HTTP/1.1, wait for room as well. */
    private void readAsLongAsThereIsRoom(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(unsent < MOST_AT_A_TIME && ctx.channel().isWritable());
    }

    private ChannelFuture send(ChannelHandlerContext ctx, FileAnswer answer) throws IOException {
        if (answer.file() == null) {
            return ctx.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, answer.status(),
                    Unpooled.EMPTY_BUFFER, answer.headers(), EmptyHttpHeaders.INSTANCE));
        }
        var range = answer.range();
        ctx.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, answer.status(), answer.headers()));
        if (regions) {
            ctx.write(new DefaultFileRegion(answer.file().getChannel(), range.first(), range.length()));
            return ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        return ctx.writeAndFlush(new HttpChunkedInput(
                new ChunkedFile(answer.file(), range.first(), range.length(), CHUNK)));
    }

    private static void refuse(ChannelHandlerContext ctx) {
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }
}
