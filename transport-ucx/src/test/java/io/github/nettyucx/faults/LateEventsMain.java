// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.ConnectBytes;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Servers to which strangers come whose messages to connect are damaged, while a client is being served. */
final class LateEventsMain {

    private static final int WAVES = 5;
    private static final int WAVE = 150;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 500;
    private static final int CLOSED_WITHIN_MILLIS = 15_000;

    private LateEventsMain() {
    }

    /** @param arguments the seed */
    public static void main(String[] arguments) throws Exception {
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[0]));
        EventLoopGroup one = TestLoops.newGroup(1);
        InetSocketAddress handingOn = serve(one, TestLoops.newGroup(1));
        // Who is accepted on the loop that listens stays with its worker, which is another way through UCX.
        InetSocketAddress keeping = serve(one, one);
        try (Peers peers = new Peers()) {
            byte[] real = ConnectBytes.capture(peers);
            Heartbeat heartbeat = new Heartbeat("client", 16);
            Peers.await(peers.client(heartbeat).connect(keeping));
            for (int i = 0; i < WAVES; i++) {
                wave(handingOn, real, random);
                wave(keeping, real, random);
                heartbeat.check();
            }
            heartbeat.end();
            Child.say("done " + 2 * WAVES * WAVE);
        }
        System.exit(0);
    }

    private static InetSocketAddress serve(EventLoopGroup listening, EventLoopGroup serving) throws Exception {
        return (InetSocketAddress) new ServerBootstrap().group(listening, serving)
                .channel(UcxServerSocketChannel.class).childHandler(new EchoMain.Echo())
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS)
                .bind(Peers.loopback(0)).sync().channel().localAddress();
    }

    private static void wave(InetSocketAddress address, byte[] real, SplittableRandom random) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < WAVE; i++) {
                Socket socket = new Socket(address.getAddress(), address.getPort());
                sockets.add(socket);
                socket.getOutputStream().write(ConnectBytes.damaged(real, random));
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
}
