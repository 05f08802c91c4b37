// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.handler.ssl.ApplicationProtocolNames;

/** What client and server say to each other. */
enum HttpProtocol {
    HTTP_1_1(ApplicationProtocolNames.HTTP_1_1, "1.1"),
    HTTP_2(ApplicationProtocolNames.HTTP_2, "2");

    private final String alpn;
    private final String version;

    HttpProtocol(String alpn, String version) {
        this.alpn = alpn;
        this.version = version;
    }

    /** The name that TLS has for it. */
    String alpn() {
        return alpn;
    }

    /** For tables. */
    String title() {
        return "HTTP/" + version;
    }

    /** The name by which the command line knows this protocol. */
    @Override
    public String toString() {
        return version;
    }
}
