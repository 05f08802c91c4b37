// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import java.nio.file.Path;

/**
 * A server, and how to talk to it.
 *
 * @param trust PEM file with the certificate that the server has to have, or {@code null} for no TLS
 */
record HttpTarget(TransportKind transport, HostAndPort server, Path trust, HttpProtocol protocol) {
    String scheme() {
        return trust == null ? "http" : "https";
    }
}
