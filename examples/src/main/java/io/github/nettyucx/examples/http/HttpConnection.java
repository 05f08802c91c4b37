// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A client's connection, for any number of requests. */
abstract class HttpConnection implements AutoCloseable {
    private final Channel channel;
    private final HttpTarget target;

    HttpConnection(Channel channel, HttpTarget target) {
        this.channel = channel;
        this.target = target;
    }

    /** Writes all of these requests before it waits for an answer to any. */
    abstract void send(List<Exchange> exchanges);

    Channel channel() {
        return channel;
    }

    /** What carries the bytes. */
    String lane() {
        return target.transport().lane(channel);
    }

    /**
     * A request without a body.
     *
     * @param path with escapes, and a slash at its beginning
     * @param content is given the bytes of the answer
     */
    Exchange exchange(HttpMethod method, String path, HttpHeaders headers, Consumer<ByteBuf> content) {
        var all = new DefaultHttpHeaders().set(headers).set(HttpHeaderNames.HOST, target.server().toString());
        return new Exchange(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, path, Unpooled.EMPTY_BUFFER, all,
                EmptyHttpHeaders.INSTANCE), content);
    }

    /** Sends one request and waits for its answer, as long as more of it comes. */
    Reply request(HttpMethod method, String path, HttpHeaders headers, Consumer<ByteBuf> content)
            throws InterruptedException {
        return request(method, path, headers, content, ClientConnections.PATIENCE_SECONDS);
    }

    /**
     * As {@link #request(HttpMethod, String, HttpHeaders, Consumer)}.
     *
     * @param patienceSeconds how long nothing may come
     */
    Reply request(HttpMethod method, String path, HttpHeaders headers, Consumer<ByteBuf> content, long patienceSeconds)
            throws InterruptedException {
        var parts = new AtomicLong();
        var exchange = exchange(method, path, headers, part -> {
            parts.incrementAndGet();
            content.accept(part);
        });
        send(List.of(exchange));
        return ClientConnections.await(exchange.reply(), method + " " + path, parts::get, patienceSeconds);
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
    }
}
