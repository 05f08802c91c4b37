// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/** Networks, as a list such as {@code 10.1.0.0/16,fd00::/8}; an address without a length stands for itself alone. */
record Networks(List<Networks.Network> all) {

    static final Networks NONE = new Networks(List.of());

    /**
     * @param address its first address, of 4 or 16 bytes
     * @param length  how many bits of it count
     */
    record Network(byte[] address, int length) {

        static Network parse(String text) {
            int slash = text.indexOf('/');
            String host = slash < 0 ? text : text.substring(0, slash);
            try {
                // Never asks a name server.
                byte[] address = InetAddress.ofLiteral(host).getAddress();
                int bits = address.length * Byte.SIZE;
                int length = slash < 0 ? bits : Integer.parseInt(text.substring(slash + 1));
                if (length >= 0 && length <= bits) {
                    return new Network(address, length);
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(problem(text), e);
            }
            throw new IllegalArgumentException(problem(text));
        }

        private static String problem(String text) {
            return '\'' + text + "' is no network (expected: an address and a length in bits, such as 10.1.0.0/16 or"
                    + " fd00::/8)";
        }

        boolean contains(byte[] other) {
            if (other.length != address.length) {
                return false;
            }
            for (int bit = 0; bit < length; bit += Byte.SIZE) {
                int rest = length - bit;
                int mask = rest >= Byte.SIZE ? 0xff : 0xff << Byte.SIZE - rest;
                int index = bit / Byte.SIZE;
                if (((address[index] ^ other[index]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** @throws IllegalArgumentException if it is no list of networks; the message names the one that is none */
    static Networks parse(String list) {
        List<Network> networks = new ArrayList<>();
        for (String each : list.split(",")) {
            if (!each.isBlank()) {
                networks.add(Network.parse(each.strip()));
            }
        }
        return new Networks(List.copyOf(networks));
    }

    boolean contain(InetAddress host) {
        byte[] address = host.getAddress();
        for (Network network : all) {
            if (network.contains(address)) {
                return true;
            }
        }
        return false;
    }
}
