// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

/** Says whether there is IPv6, first on a thread that gets no sockets, and then on one that gets them. */
final class Ipv6Main {

    private Ipv6Main() {
    }

    /** @param arguments the error that the first thread gets */
    public static void main(String[] arguments) throws Exception {
        boolean without = Seccomp.refusing(
                Integer.parseInt(arguments[0]), KernelSocket::isIpv6Available, Seccomp.SOCKET);
        System.out.println(without + " " + KernelSocket.isIpv6Available());
    }
}
