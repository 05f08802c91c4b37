// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import io.github.nettyucx.examples.HostAndPort;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One broker of a cluster.
 *
 * @param address where clients and other brokers reach its log
 * @param raftPort where the others reach its Raft server, on the same host
 */
public record Node(HostAndPort address, int raftPort) {
    private static final int MAX_PORT = 65535;

    public Node {
        if (address.port() == 0) {
            throw malformed(address + "/" + raftPort, "the broker's port is 0, and the others could not know the one that it"
                    + " gets");
        }
        if (raftPort < 1 || raftPort > MAX_PORT) {
            throw malformed(address + "/" + raftPort, "the Raft server's port is not a number from 1 to " + MAX_PORT);
        }
        if (raftPort == address.port()) {
            throw malformed(address + "/" + raftPort, "the broker and its Raft server cannot have the same port");
        }
    }

    /** @throws IllegalArgumentException saying what is wrong with the text and what was expected */
    public static Node parse(String text) {
        var slash = text.lastIndexOf('/');
        if (slash < 0) {
            throw malformed(text, "there is no port of a Raft server");
        }
        int raftPort;
        try {
            raftPort = Integer.parseInt(text.substring(slash + 1));
        } catch (NumberFormatException e) {
            throw malformed(text, "the Raft server's port is not a number from 1 to " + MAX_PORT);
        }
        return new Node(HostAndPort.parse(text.substring(0, slash)), raftPort);
    }

    private static IllegalArgumentException malformed(String text, String fault) {
        return new IllegalArgumentException("'" + text + "': " + fault
                + ". Expected HOST:PORT/RAFTPORT, for example node1:7777/7778.");
    }

    /** By which the cluster knows it. It becomes part of names of files and beans, where a colon would not do. */
    public String id() {
        return (address.host() + "-" + address.port()).replace(':', '-').replace('%', '-');
    }

    @Override
    public String toString() {
        return address + "/" + raftPort;
    }

    /** For picocli, whose error message is then the one of {@link #parse}. */
    public static final class Converter implements ITypeConverter<Node> {
        @Override
        public Node convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
