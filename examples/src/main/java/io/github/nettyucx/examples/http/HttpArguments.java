// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.Arguments;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.ParameterException;

/** Tells a user which arguments do not go together. */
record HttpArguments(Arguments arguments, List<URI> urls, HostAndPort server, HostAndPort connect) {
    /**
     * @throws ParameterException saying what is wrong, and what to do
     */
    void validate(List<TransportKind> transports, List<HttpProtocol> protocols, Path certificate, Path key, Path trust,
                  Path files) {
        arguments.requireOneRole(server, connect);
        if (!urls.isEmpty() && (server != null || connect != null)) {
            throw arguments.rejected("a URL says where to connect to. Leave out --server and --connect, or the URL.");
        }
        var alone = server != null || connect != null || !urls.isEmpty();
        if (alone && transports != null && Arguments.distinct(transports).size() > 1) {
            throw arguments.rejected("--transport has more than one value. Between processes that are started by hand "
                    + "give one, the same on both sides.");
        }
        if (!urls.isEmpty() && protocols != null && Arguments.distinct(protocols).size() > 1) {
            throw arguments.rejected("--http has more than one value. Give one for URLs.");
        }
        validateServer(certificate, key, files);
        arguments.requirePort("--connect", connect);
        urls.forEach(url -> validate(url, trust));
        validateUnused(alone);
        arguments.rejectWithout(TransportKind.UCX, transports, "--lane");
        arguments.requireReadable("--cert", certificate);
        arguments.requireReadable("--key", key);
        arguments.requireReadable("--trust", trust);
    }

    private void validateServer(Path certificate, Path key, Path files) {
        arguments.requireBoth(certificate, key, server);
        if (files != null && server == null) {
            throw arguments.rejected("--files means something only with --server.");
        }
        if (files != null && !Files.isDirectory(files)) {
            throw arguments.rejected("--files " + files + " is no directory. Expected one that exists.");
        }
    }

    private void validate(URI url, Path trust) {
        if (!("http".equals(url.getScheme()) || "https".equals(url.getScheme())) || url.getHost() == null
                || url.getPort() <= 0) {
            throw arguments.rejected("'" + url + "' will not do. Expected http://HOST:PORT/PATH or "
                    + "https://HOST:PORT/PATH.");
        }
        if (url.getScheme().equals("https") && trust == null) {
            throw arguments.rejected("'" + url + "' needs --trust, a PEM file with the certificate of its server.");
        }
    }

    private void validateUnused(boolean alone) {
        if (alone && arguments.given("--security")) {
            throw arguments.rejected("--security is for a run on this host alone. Give a server --cert and "
                    + "--key, and a client --trust, for TLS.");
        }
        if (arguments.given("--trust") && connect == null && urls.isEmpty()) {
            throw arguments.rejected("--trust means something only with --connect or a URL.");
        }
        if (arguments.given("--range") && urls.isEmpty()) {
            throw arguments.rejected("--range means something only with a URL.");
        }
        if (arguments.given("--http") && server != null) {
            throw arguments.rejected("--http means nothing to a server, which speaks both. Give it to the client.");
        }
        if (arguments.given("--rounds") && (server != null || !urls.isEmpty())) {
            throw arguments.rejected("--rounds is for the client that measures. Leave it out, or give it with "
                    + "--connect.");
        }
        if (arguments.given("--size") && (!urls.isEmpty() || arguments.given("--files"))) {
            throw arguments.rejected("--size is of the file that is made for --connect. Leave it out.");
        }
    }
}
