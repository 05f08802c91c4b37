// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.UcxDatagramChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ProtocolFamily;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;

/** What Netty's tests for datagrams run with. */
final class DatagramPermutation extends SocketTestPermutation {

    static final DatagramPermutation INSTANCE = new DatagramPermutation();

    private final EventLoopGroup loops = new SuiteLoops("suite-datagram").loops;

    private DatagramPermutation() {
    }

    BootstrapFactory<Bootstrap> datagramSocket(ProtocolFamily family) {
        return () -> new Bootstrap().group(loops).channelFactory(() -> new UcxDatagramChannel(family));
    }

    List<BootstrapComboFactory<Bootstrap, Bootstrap>> datagramsOfUcx(ProtocolFamily family) {
        return combo(List.of(datagramSocket(family)), List.of(datagramSocket(family)));
    }

    /** Datagrams are the kernel's: the peer may be one of Netty's own channels. */
    List<BootstrapComboFactory<Bootstrap, Bootstrap>> datagrams(ProtocolFamily family) {
        BootstrapFactory<Bootstrap> ucx = datagramSocket(family);
        SelectorProvider provider = SelectorProvider.provider();
        BootstrapFactory<Bootstrap> nio = () -> new Bootstrap().group(NIO_GROUP).channelFactory(() -> {
            try {
                return new NioDatagramChannel(provider.openDatagramChannel(family));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        List<BootstrapComboFactory<Bootstrap, Bootstrap>> all = new ArrayList<>(combo(List.of(ucx), List.of(ucx, nio)));
        all.addAll(combo(List.of(nio), List.of(ucx)));
        return all;
    }
}
