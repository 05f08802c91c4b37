// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.net.InetSocketAddress;

/**
 * {@code HOST:PORT} as given on the command line; IPv6 addresses stand in brackets, with their zone if they need one:
 * {@code [::1]:7777}, {@code [fe80::1%eth0]:7777}.
 *
 * @param host a name or an address, without brackets
 * @param port 0 to 65535, where 0 lets a server choose a free one
 */
public record HostAndPort(String host, int port) {

    /**
     * @throws IllegalArgumentException saying what is wrong with the text and what was expected
     */
    public static HostAndPort parse(String text) {
        var colon = text.lastIndexOf(':');
        if (colon < 0 || text.endsWith("]")) {
            throw malformed(text, "there is no port");
        }
        var host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw malformed(text, "an IPv6 address needs brackets");
        }
        if (host.isBlank()) {
            throw malformed(text, "there is no host");
        }
        return new HostAndPort(host, port(text, text.substring(colon + 1)));
    }

    private static int port(String text, String digits) {
        try {
            var port = Integer.parseInt(digits);
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Falls through to the same answer as a number out of range.
        }
        throw malformed(text, "the port is not a number from 0 to 65535");
    }

    private static IllegalArgumentException malformed(String text, String fault) {
        return new IllegalArgumentException("'" + text + "': " + fault
                + ". Expected HOST:PORT, for example 192.0.2.1:7777, node1:7777 or [::1]:7777.");
    }

    /** Looks the host name up; blocks for as long as the name service takes. */
    public InetSocketAddress resolve() {
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new ExampleFailure("the host name " + host + " is not known");
        }
        return address;
    }

    public static HostAndPort of(InetSocketAddress address) {
        var ip = address.getAddress();
        return new HostAndPort(ip == null ? address.getHostString() : withoutName(ip.getHostAddress()),
                address.getPort());
    }

    /** The zone of an IPv6 address is kept only where it means something: loopback needs none. */
    private static String withoutName(String address) {
        var zone = address.indexOf('%');
        var bare = zone < 0 ? address : address.substring(0, zone);
        return bare.equals("0:0:0:0:0:0:0:1") ? "::1" : address;
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
