// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** What an administrator can set for a JVM: it has the JDK's own one do everything. */
public final class OwnProvider extends SelectorProvider {

    private final SelectorProvider usual;

    public OwnProvider() throws ReflectiveOperationException {
        usual = (SelectorProvider) Class.forName("sun.nio.ch.DefaultSelectorProvider").getMethod("get").invoke(null);
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return usual.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return usual.openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return usual.openPipe();
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return usual.openSelector();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return usual.openServerSocketChannel();
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return usual.openSocketChannel();
    }
}
