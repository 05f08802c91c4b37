// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.nio.file.Path;
import java.util.Arrays;
import javax.net.ssl.SSLException;

/** The JDK's TLS, which agrees on the protocol above it by ALPN. */
final class Tls {
    private Tls() {
    }

    /**
     * @param certificate PEM file, or {@code null} for no TLS, which is what is then returned
     * @param key PEM file of the certificate's key
     */
    static SslContext ofServer(Path certificate, Path key) {
        return certificate == null ? null
                : build(certificate + " and " + key,
                        () -> SslContextBuilder.forServer(certificate.toFile(), key.toFile()),
                        HttpProtocol.HTTP_2, HttpProtocol.HTTP_1_1);
    }

    /**
     * @param trust PEM file with the certificate that the server has to have, or {@code null} for no TLS
     * @param wanted the one protocol that is offered to the server
     */
    static SslContext ofClient(Path trust, HttpProtocol wanted) {
        return trust == null ? null
                : build(trust.toString(), () -> SslContextBuilder.forClient().trustManager(trust.toFile())
                        // The default of Netty 4.2.
                        .endpointIdentificationAlgorithm("HTTPS"), wanted);
    }

    private static SslContext build(String files, Source source, HttpProtocol... protocols) {
        try {
            return source.builder()
                    .sslProvider(SslProvider.JDK)
                    .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                    .applicationProtocolConfig(new ApplicationProtocolConfig(Protocol.ALPN,
                            SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT,
                            Arrays.stream(protocols).map(HttpProtocol::alpn).toList()))
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new ExampleFailure("cannot use " + files + ": " + Explanation.of(e), e);
        }
    }

    private interface Source {
        SslContextBuilder builder();
    }
}
