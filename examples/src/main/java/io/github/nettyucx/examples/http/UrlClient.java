// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.net.URI;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;

/** Gets what URLs name, and tells what came. */
final class UrlClient {
    private final TransportKind transport;
    private final Path trust;
    private final HttpProtocol protocol;
    private final String range;
    private final TextTable table = new TextTable().left("URL").right("status").right("bytes").right("MB/s")
            .left("lane").left("SHA-256");

    /**
     * @param trust PEM file with the certificate that servers have to have, or {@code null} if all URLs are http
     * @param range the Range field of the requests, or {@code null}
     */
    UrlClient(TransportKind transport, Path trust, HttpProtocol protocol, String range) {
        this.transport = transport;
        this.trust = trust;
        this.protocol = protocol;
        this.range = range;
    }

    /**
     * One after the other, each over a connection of its own.
     *
     * @param report is given a table: of all, or of those before the one that fails
     * @throws ExampleFailure if one cannot be got
     */
    void get(List<URI> urls, Consumer<String> report) throws InterruptedException {
        var got = 0;
        try {
            for (var url : urls) {
                get(url);
                got++;
            }
        } finally {
            if (got > 0) {
                report.accept(table.render());
            }
        }
    }

    private void get(URI url) throws InterruptedException {
        var server = new HostAndPort(url.getHost().replaceAll("[\\[\\]]", ""), url.getPort());
        var headers = new DefaultHttpHeaders();
        if (range != null) {
            headers.set(HttpHeaderNames.RANGE, range);
        }
        var digest = sha256();
        var path = (url.getRawPath().isEmpty() ? "/" : url.getRawPath())
                + (url.getRawQuery() == null ? "" : "?" + url.getRawQuery());
        var target = new HttpTarget(transport, server, url.getScheme().equals("https") ? trust : null, protocol);
        try (var connections = new ClientConnections(target); var connection = connections.open()) {
            var lane = connection.lane();
            var start = System.nanoTime();
            var reply = connection.request(HttpMethod.GET, path, headers,
                    part -> digest.update(part.nioBuffer()));
            var seconds = (System.nanoTime() - start) / 1e9;
            table.row(List.of(url.toString(), Integer.toString(reply.status()), whole(reply.length()),
                    whole(reply.length() / seconds / 1e6), lane, HexFormat.of().formatHex(digest.digest())));
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new ExampleFailure("this JVM has no SHA-256", e);
        }
    }
}
