// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Tells a user which arguments do not go together. */
record HttpArguments(CommandSpec spec, List<URI> urls, HostAndPort server, HostAndPort connect) {
    /**
     * @throws ParameterException saying what is wrong, and what to do
     */
    void validate(List<TransportKind> transports, List<HttpProtocol> protocols, Path certificate, Path key, Path trust,
                  Path files) {
        if (server != null && connect != null) {
            throw rejected("--server and --connect exclude each other. Start one process with --server, and then "
                    + "another with --connect.");
        }
        if (!urls.isEmpty() && (server != null || connect != null)) {
            throw rejected("a URL says where to connect to. Leave out --server and --connect, or the URL.");
        }
        var alone = server != null || connect != null || !urls.isEmpty();
        if (alone && transports != null && new LinkedHashSet<>(transports).size() > 1) {
            throw rejected("--transport has more than one value. Between processes that are started by hand give one, "
                    + "the same on both sides.");
        }
        if (!urls.isEmpty() && protocols != null && new LinkedHashSet<>(protocols).size() > 1) {
            throw rejected("--http has more than one value. Give one for URLs.");
        }
        validateServer(certificate, key, files);
        if (connect != null && connect.port() == 0) {
            throw rejected("--connect " + connect + " names no port. Give the one that the server printed.");
        }
        urls.forEach(url -> validate(url, trust));
        validateUnused(alone);
        if (given("--lane") && transports != null && !transports.contains(TransportKind.UCX)) {
            throw rejected("--lane is about ucx, which is not among the transports given. Add ucx to --transport, or "
                    + "leave --lane out.");
        }
        requireReadable("--cert", certificate);
        requireReadable("--key", key);
        requireReadable("--trust", trust);
    }

    private void validateServer(Path certificate, Path key, Path files) {
        if ((certificate == null) != (key == null)) {
            throw rejected("--cert and --key belong together: the certificate, and its private key.");
        }
        if (certificate != null && server == null) {
            throw rejected("--cert and --key mean something only with --server.");
        }
        if (files != null && server == null) {
            throw rejected("--files means something only with --server.");
        }
        if (files != null && !Files.isDirectory(files)) {
            throw rejected("--files " + files + " is no directory. Expected one that exists.");
        }
    }

    private void validate(URI url, Path trust) {
        if (!("http".equals(url.getScheme()) || "https".equals(url.getScheme())) || url.getHost() == null
                || url.getPort() <= 0) {
            throw rejected("'" + url + "' will not do. Expected http://HOST:PORT/PATH or https://HOST:PORT/PATH.");
        }
        if (url.getScheme().equals("https") && trust == null) {
            throw rejected("'" + url + "' needs --trust, a PEM file with the certificate of its server.");
        }
    }

    private void validateUnused(boolean alone) {
        if (alone && given("--security")) {
            throw rejected("--security is for a run on this host alone. Give a server --cert and --key, and a client "
                    + "--trust, for TLS.");
        }
        if (given("--trust") && connect == null && urls.isEmpty()) {
            throw rejected("--trust means something only with --connect or a URL.");
        }
        if (given("--range") && urls.isEmpty()) {
            throw rejected("--range means something only with a URL.");
        }
        if (given("--http") && server != null) {
            throw rejected("--http means nothing to a server, which speaks both. Give it to the client.");
        }
        if (given("--rounds") && (server != null || !urls.isEmpty())) {
            throw rejected("--rounds is for the client that measures. Leave it out, or give it with --connect.");
        }
        if (given("--size") && (!urls.isEmpty() || given("--files"))) {
            throw rejected("--size is of the file that is made for --connect. Leave it out.");
        }
    }

    private void requireReadable(String option, Path file) {
        if (file != null && (!Files.isRegularFile(file) || !Files.isReadable(file))) {
            throw rejected(option + " " + file + " cannot be read. Expected a PEM file that exists.");
        }
    }

    private boolean given(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private ParameterException rejected(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
