// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Tells a user which arguments of a command do not go together. Where nothing else is said, methods throw a
 * {@link ParameterException} that says what is wrong, and what to do.
 */
public record Arguments(CommandSpec spec) {

    /** Whether the user has given an option. */
    public boolean given(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    /** To be thrown. */
    public ParameterException rejected(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** A process is a server or a client. */
    public void requireOneRole(HostAndPort server, HostAndPort connect) {
        if (server != null && connect != null) {
            throw rejected("--server and --connect exclude each other. Start one process with --server, and then "
                    + "another with --connect.");
        }
    }

    /** @param server that an option names, or {@code null} */
    public void requirePort(String option, HostAndPort server) {
        if (server != null && server.port() == 0) {
            throw rejected(option + " " + server + " names no port. Give the one that the server printed.");
        }
    }

    /** Between two processes that are started by hand there is one transport, and both have to name the same. */
    public void requireOneTransport(List<?> transports) {
        if (transports != null && distinct(transports).size() > 1) {
            throw rejected("--transport has more than one value. With --server or --connect give one, the same on "
                    + "both sides.");
        }
    }

    /**
     * @param transports that the user has given, or {@code null}
     */
    public <T> void rejectWithout(T ucx, List<T> transports, String option) {
        if (given(option) && transports != null && !transports.contains(ucx)) {
            throw rejected(option + " is about ucx, which is not among the transports given. Add ucx to --transport, "
                    + "or leave " + option + " out.");
        }
    }

    /** Options of the client's. */
    public void rejectForServer(String... options) {
        for (var option : options) {
            if (given(option)) {
                throw rejected(option + " means nothing to a server. Give it to the client, with --connect.");
            }
        }
    }

    /** What a server needs for TLS. */
    public void requireBoth(Path certificate, Path key, HostAndPort server) {
        if ((certificate == null) != (key == null)) {
            throw rejected("--cert and --key belong together: the certificate, and its private key.");
        }
        if (certificate != null && server == null) {
            throw rejected("--cert and --key mean something only with --server.");
        }
    }

    public void requireReadable(String option, Path file) {
        if (file != null && (!Files.isRegularFile(file) || !Files.isReadable(file))) {
            throw rejected(option + " " + file + " cannot be read. Expected a PEM file that exists.");
        }
    }

    /** Each value once, in the order given. */
    public static <T> List<T> distinct(List<T> values) {
        return List.copyOf(new LinkedHashSet<>(values));
    }
}
