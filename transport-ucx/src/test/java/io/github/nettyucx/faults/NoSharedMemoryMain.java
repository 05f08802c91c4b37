// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program that uses up the shared memory of its namespace, gives it back, and says what its connections do. */
final class NoSharedMemoryMain {

    private static final int LOOPS = 3;
    private static final String WELL = "then none";
    /** Links to a process are not tried again for 30 s after one has failed. */
    private static final long RECOVERY_SECONDS = 45;

    private final SharedMemoryRoom room;
    private final EventLoopGroup group = TestLoops.newGroup(1);

    private NoSharedMemoryMain(String transport) {
        room = new SharedMemoryRoom(transport);
    }

    /** @param arguments UCX's transport */
    public static void main(String[] arguments) throws Exception {
        new NoSharedMemoryMain(arguments[0]).run();
        System.exit(0);
    }

    private void run() throws Exception {
        // Connections go to its loops in turn, each of which needs shared memory for a new process.
        SocketAddress own = Peers.await(new ServerBootstrap()
                .group(TestLoops.newGroup(1), TestLoops.newGroup(LOOPS))
                .channel(UcxServerSocketChannel.class).childHandler(new EchoMain.Echo()).bind(Peers.loopback(0)))
                .channel().localAddress();
        // Of processes that take the socket if they have to; this one and the client do not.
        List<String> flags = List.of("-Dio.github.nettyucx.tls=" + System.getProperty("io.github.nettyucx.tls"),
                "-Dio.github.nettyucx.lanes=shm,socket");
        try (Child living = Child.start(List.of(), flags, EchoMain.class);
             Child unknown = Child.start(List.of(), flags, EchoMain.class);
             Child client = Child.start(List.of(), flags.subList(0, 1), ConnectingMain.class,
                     ((InetSocketAddress) own).getPort())) {
            Heartbeat heartbeat = new Heartbeat("living process", 16);
            Peers.await(new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(heartbeat)
                    .connect(Peers.loopback(living.awaitPort())));
            SocketAddress unknownAddress = Peers.loopback(unknown.awaitPort());
            // With that it has had a connection to the first loop.
            client.await("started");
            check("1 then none", connectOne(client));
            room.fill();
            Child.say("connecting " + Peers.awaitFailure(connect(unknownAddress, "shm")));
            Channel fallenBack = Peers.await(connect(unknownAddress, "shm,socket")).channel();
            check("socket", ((UcxSocketChannel) fallenBack).lane());
            String refused = connectOne(client);
            if (!refused.contains("Exception")) {
                throw new AssertionError("connected without shared memory: " + refused);
            }
            Child.say("accepting " + refused);
            // The first loop may have given back what it had for the process; the second one needs it.
            if (!connectOne(client).endsWith(WELL)) {
                check("2 then none", connectOne(client));
            }
            awaitBeats(client, heartbeat);
            room.empty();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS);
            while (!connect(unknownAddress, "shm").await().isSuccess()) {
                checkTime(deadline, "to the other process");
            }
            for (int i = 0; i < LOOPS;) {
                String result = connectOne(client);
                if (result.endsWith(WELL)) {
                    i++;
                } else {
                    checkTime(deadline, result);
                }
            }
            awaitBeats(client, heartbeat);
            Child.say("recovered");
        }
    }

    private static void checkTime(long deadline, String what) throws InterruptedException {
        if (System.nanoTime() - deadline > 0) {
            throw new AssertionError("no connection though there is shared memory again: " + what);
        }
        // Until the next attempt.
        Thread.sleep(100);
    }

    private ChannelFuture connect(SocketAddress address, String lanes) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(UcxChannelOption.LANES, lanes).handler(new ChannelInboundHandlerAdapter()).connect(address);
    }

    private static String connectOne(Child client) throws Exception {
        client.tell("connect 1");
        return client.await("result");
    }

    private static void awaitBeats(Child client, Heartbeat heartbeat) throws Exception {
        client.tell("beats");
        check("all", client.await("beats"));
        long before = heartbeat.beats();
        for (int i = 0; heartbeat.beats() < before + 3; i++) {
            heartbeat.check();
            if (i == 2000) {
                throw new AssertionError("the heartbeat has stopped");
            }
            Thread.sleep(5);
        }
    }

    private static void check(String expected, String actual) {
        if (!expected.equals(actual)) {
            throw new AssertionError("expected '" + expected + "', not '" + actual + "'");
        }
    }
}
