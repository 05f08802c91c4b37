// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLException;

/** The JDK's TLS in Netty's handler, for tasks that want it. */
final class Tls {
    /** {@code null} without TLS. */
    private final SslContext context;

    private Tls(SslContext context) {
        this.context = context;
    }

    static Tls ofServer(Task task) {
        return of(task, () -> SslContextBuilder.forServer(task.certificate().certificate().toFile(),
                task.certificate().key().toFile()));
    }

    static Tls ofClient(Task task) {
        return of(task, () -> SslContextBuilder.forClient().trustManager(task.certificate().certificate().toFile())
                // The default of Netty 4.2.
                .endpointIdentificationAlgorithm("HTTPS"));
    }

    private interface Source {
        SslContextBuilder builder();
    }

    private static Tls of(Task task, Source source) {
        if (task.scenario().isPlain()) {
            return new Tls(null);
        }
        try {
            return new Tls(source.builder().sslProvider(SslProvider.JDK).build());
        } catch (SSLException | IllegalArgumentException e) {
            throw new ExampleFailure("cannot use the certificate: " + Explanation.of(e), e);
        }
    }

    /** At a server, to the end of the pipeline. */
    void addTo(Channel channel) {
        if (context != null) {
            channel.pipeline().addLast(context.newHandler(channel.alloc()));
        }
    }

    /** At a client of that server. */
    void addTo(Channel channel, InetSocketAddress server) {
        if (context != null) {
            channel.pipeline().addLast(context.newHandler(channel.alloc(), server.getHostString(), server.getPort()));
        }
    }
}
