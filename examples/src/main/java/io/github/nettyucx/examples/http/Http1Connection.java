// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.channel.Channel;
import java.util.List;

/** Answers come in the order of the requests, which need not wait for each other: that is pipelining. */
final class Http1Connection extends HttpConnection {
    private final ReplyHandler replies;

    Http1Connection(Channel channel, HttpTarget target, ReplyHandler replies) {
        super(channel, target);
        this.replies = replies;
    }

    @Override
    void send(List<Exchange> exchanges) {
        channel().eventLoop().execute(() -> {
            for (var exchange : exchanges) {
                replies.expect(exchange);
                channel().write(exchange.request());
            }
            channel().flush();
        });
    }
}
