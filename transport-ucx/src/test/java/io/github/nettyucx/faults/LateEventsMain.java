// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.ConnectBytes;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A server to which strangers come whose messages to connect are damaged, while a client is being served. */
final class LateEventsMain {

    private static final int WAVES = 8;
    /** So many if no event is late in the first ones, which happens once in some dozen runs. */
    private static final int MOST_WAVES = 40;
    private static final int WAVE = 60;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 500;
    private static final int CLOSED_WITHIN_MILLIS = 15_000;

    private LateEventsMain() {
    }

    /** @param arguments the seed, and the library that has been preloaded */
    public static void main(String[] arguments) throws Exception {
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[0]));
        InetSocketAddress address = (InetSocketAddress) new ServerBootstrap()
                .group(TestLoops.newGroup(1), TestLoops.newGroup(1))
                .channel(UcxServerSocketChannel.class).childHandler(new EchoMain.Echo())
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS)
                .bind(Peers.loopback(0)).sync().channel().localAddress();
        try (Peers peers = new Peers()) {
            byte[] real = ConnectBytes.capture(peers);
            Heartbeat heartbeat = new Heartbeat("client", 16);
            Peers.await(peers.client(heartbeat).connect(address));
            int waves = 0;
            for (; waves < WAVES || waves < MOST_WAVES && lateEvents(arguments[1]) == 0; waves++) {
                wave(address, real, random);
                heartbeat.check();
            }
            heartbeat.end();
            Child.say("done " + waves * WAVE);
        }
        System.exit(0);
    }

    private static int lateEvents(String library) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment function = SymbolLookup.libraryLookup(Path.of(library), arena).findOrThrow("late_events");
            return (int) Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT))
                    .invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("asking the preloaded library", e);
        }
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
