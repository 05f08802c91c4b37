// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.NettyServer;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.handler.ssl.SslContext;

/** Serves a directory's files and a WebSocket to any number of clients. */
final class HttpServer {
    private HttpServer() {
    }

    /**
     * Returns when the server accepts connections.
     *
     * @param tls {@code null} for none
     */
    static NettyServer start(TransportKind transport, HostAndPort address, SslContext tls, FileDirectory files) {
        return NettyServer.start(transport, address, 1,
                new ServerBootstrap().childHandler(new ServerPipeline(tls, files)));
    }
}
