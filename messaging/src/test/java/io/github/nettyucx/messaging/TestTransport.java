// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** What the nodes of a test are connected by. */
enum TestTransport {
    UCX,
    NIO;

    /** Nodes that know each other; all are closed together. */
    static final class Nodes implements AutoCloseable {

        final Map<Integer, SocketAddress> addresses = new ConcurrentHashMap<>();
        private final TestTransport transport;
        private final List<Node> nodes = new ArrayList<>();
        private final List<EventLoopGroup> groups = new ArrayList<>();

        Nodes(TestTransport transport) {
            this.transport = transport;
        }

        Node start(int id) {
            return start(id, builder -> builder);
        }

        Node start(int id, UnaryOperator<NodeBuilder> more) {
            Node node = start(builder(id).listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)), more);
            addresses.put(id, node.address());
            return node;
        }

        /** One that does not listen. */
        Node startClient(int id) {
            return start(builder(id), builder -> builder);
        }

        private Node start(NodeBuilder builder, UnaryOperator<NodeBuilder> more) {
            Node node = more.apply(builder).start();
            nodes.add(node);
            return node;
        }

        @SuppressWarnings("deprecation") // of Netty 4.2
        private NodeBuilder builder(int id) {
            NodeBuilder builder = Node.builder(id).directory(addresses::get);
            if (transport == NIO) {
                EventLoopGroup group = new NioEventLoopGroup(1);
                groups.add(group);
                builder.transport(group, NioSocketChannel.class, NioServerSocketChannel.class);
            }
            return builder;
        }

        @Override
        public void close() {
            nodes.forEach(Node::close);
            groups.forEach(group -> group.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS)
                    .awaitUninterruptibly());
        }
    }
}
