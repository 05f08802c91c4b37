// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.odd.channel.unix;

import io.netty.buffer.ByteBuf;
import io.netty.channel.socket.DatagramPacket;

import java.net.InetSocketAddress;

/** As Netty's class of that name is to the transport where a class loader has it that the transport does not see. */
public final class SegmentedDatagramPacket extends DatagramPacket {

    private final int segmentSize;

    public SegmentedDatagramPacket(ByteBuf content, int segmentSize, InetSocketAddress recipient) {
        super(content, recipient);
        this.segmentSize = segmentSize;
    }

    public int segmentSize() {
        return segmentSize;
    }
}
