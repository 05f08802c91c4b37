// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.ConnectBytes;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/** A server to which clients come and strangers, who connect as UCX does and say nothing, until it turns them away. */
final class KeepaliveMain {

    private static final int CLIENTS = 10;
    private static final int WAVES = 8;
    private static final int WAVE = 60;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 500;
    private static final int CLOSED_WITHIN_MILLIS = 15_000;

    private KeepaliveMain() {
    }

    public static void main(String[] arguments) throws Exception {
        InetSocketAddress address = (InetSocketAddress) new ServerBootstrap().group(TestLoops.newGroup(1))
                .channel(UcxServerSocketChannel.class).childHandler(new EchoMain.Echo())
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS)
                .bind(Peers.loopback(0)).sync().channel().localAddress();
        try (Peers peers = new Peers()) {
            byte[] real = ConnectBytes.capture(peers);
            for (int i = 0; i < CLIENTS; i++) {
                Peers.await(peers.client(new ChannelInboundHandlerAdapter()).connect(address));
            }
            Heartbeat heartbeat = new Heartbeat("client", 16);
            Peers.await(peers.client(heartbeat).connect(address));
            for (int i = 0; i < WAVES; i++) {
                wave(address, real);
                awaitBeats(heartbeat);
            }
            heartbeat.check();
            heartbeat.end();
            Child.say("done " + WAVES * WAVE);
        }
        System.exit(0);
    }

    private static void wave(InetSocketAddress address, byte[] real) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < WAVE; i++) {
                Socket socket = new Socket(address.getAddress(), address.getPort());
                sockets.add(socket);
                socket.getOutputStream().write(real);
            }
            for (Socket socket : sockets) {
                socket.setSoTimeout(CLOSED_WITHIN_MILLIS);
                try {
                    socket.getInputStream().readAllBytes();
                } catch (SocketException e) {
                    // Reset, which is an end as well.
                }
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /** Clients are served meanwhile; the test bounds the wait. */
    private static void awaitBeats(Heartbeat heartbeat) throws InterruptedException {
        long before = heartbeat.beats();
        while (heartbeat.beats() < before + 3) {
            heartbeat.check();
            // Between two looks at a condition.
            Thread.sleep(5);
        }
    }
}
