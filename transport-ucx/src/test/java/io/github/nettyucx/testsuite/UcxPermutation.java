// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;
import io.netty.util.concurrent.DefaultThreadFactory;

import java.util.List;

/** Has Netty's tests run with UCX on both sides: the two sides of a connection have to speak the same protocol. */
final class UcxPermutation extends SocketTestPermutation {

    static final UcxPermutation INSTANCE = new UcxPermutation();

    private static final int ACCEPTING_LOOPS = 2;

    final EventLoopGroup accepting =
            TestLoops.newGroup(ACCEPTING_LOOPS, new DefaultThreadFactory("testsuite-ucx-accepting", true));
    final EventLoopGroup loops = TestLoops.newGroup(NUM_THREADS, new DefaultThreadFactory("testsuite-ucx", true));

    private UcxPermutation() {
    }

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return List.of(() -> new ServerBootstrap().group(accepting, loops).channel(UcxServerSocketChannel.class));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return List.of(() -> new Bootstrap().group(loops).channel(UcxSocketChannel.class));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocketWithFastOpen() {
        return clientSocket();
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        return combo(serverSocket(), clientSocket());
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socketWithFastOpen() {
        return socket();
    }
}
