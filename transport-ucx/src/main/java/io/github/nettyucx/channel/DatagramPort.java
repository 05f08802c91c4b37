// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;

import java.net.InetSocketAddress;

/**
 * A datagram socket as {@link DatagramInput} and {@link DatagramOutput} use it. Only for the channel's loop. What is
 * received and sent is told in bytes, and an error as its negative number.
 */
interface DatagramPort {

    /** Takes the next datagram; what does not fit is lost. */
    int receive(long address, int length);

    /** Of the datagram that was received last. */
    InetSocketAddress lastSender();

    /** @param remote {@code null} for the peer that the socket is connected to */
    int send(long address, int length, InetSocketAddress remote);

    static DatagramPort of(KernelSocket socket) {
        return new DatagramPort() {

            @Override
            public int receive(long address, int length) {
                return socket.receiveFrom(address, length);
            }

            @Override
            public InetSocketAddress lastSender() {
                return socket.lastSender();
            }

            @Override
            public int send(long address, int length, InetSocketAddress remote) {
                return remote == null ? socket.send(address, length) : socket.sendTo(address, length, remote);
            }
        };
    }
}
