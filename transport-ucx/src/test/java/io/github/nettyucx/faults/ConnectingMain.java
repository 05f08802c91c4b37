// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A program that connects as often as it is told to, or until that fails; or as often as it is told to at once. */
final class ConnectingMain {

    /** Between the reasons for which connects have failed. */
    static final String REASON_SEPARATOR = "; and ";

    /** Where none is to time out: a server loads UCX for its first connection, and many that begin at once take long. */
    private static final int TIMEOUT_MILLIS = 20_000;
    private static final int NOBODYS_PORT = 1;

    private ConnectingMain() {
    }

    /** @param arguments the port of an echo, and the {@code CONNECT_TIMEOUT_MILLIS} behind the warm-up, or nothing */
    public static void main(String[] arguments) throws Exception {
        LoadedClasses.loadAll();
        Bootstrap bootstrap = new Bootstrap().group(TestLoops.newGroup(1)).channel(UcxSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS)
                .remoteAddress(Peers.loopback(Integer.parseInt(arguments[0])));
        warmUp(bootstrap);
        if (arguments.length > 1) {
            bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Integer.valueOf(arguments[1]));
        }
        List<Channel> channels = new ArrayList<>();
        List<Heartbeat> heartbeats = new ArrayList<>();
        Child.say("started");
        for (;;) {
            String[] words = Child.nextCommand().split(" ");
            switch (words[0]) {
                case "connect" -> Child.say("result " + connect(
                        bootstrap, channels, heartbeats, Integer.parseInt(words[1])));
                case "storm" -> Child.say("result " + connectAtOnce(
                        bootstrap, channels, heartbeats, Integer.parseInt(words[1])));
                // All but the first.
                case "close" -> {
                    while (channels.size() > 1) {
                        heartbeats.removeLast().end();
                        Peers.await(channels.removeLast().close());
                    }
                    Child.say("closed");
                }
                case "beats" -> Child.say("beats " + beats(heartbeats));
                case "lanes" -> Child.say("lanes " + String.join(", ", channels.stream()
                        .map(channel -> ((UcxSocketChannel) channel).lane()).toList()));
                default -> throw new IllegalArgumentException(words[0]);
            }
        }
    }

    /**
     * A connection from its beginning to its end, and one that fails: what they need for the first time has to be there,
     * on both sides, before there are no descriptors to get it with.
     */
    private static void warmUp(Bootstrap bootstrap) throws Exception {
        Peers.awaitFailure(bootstrap.clone().handler(new Heartbeat("nobody", 16)).connect(Peers.loopback(NOBODYS_PORT)));
        Heartbeat heartbeat = new Heartbeat("first", 16);
        Channel channel = Peers.await(bootstrap.clone().handler(heartbeat).connect()).channel();
        Eventually.await(TIMEOUT_MILLIS, () -> "no beats of " + heartbeat, () -> {
            heartbeat.check();
            return heartbeat.beats() >= 3;
        });
        heartbeat.end();
        Peers.await(channel.close());
    }

    /** @return how many there are, and why there are not more */
    private static String connect(Bootstrap bootstrap, List<Channel> channels, List<Heartbeat> heartbeats, int number)
            throws InterruptedException {
        for (int i = 0; i < number; i++) {
            Heartbeat heartbeat = new Heartbeat("connection " + i, 16);
            ChannelFuture connect = bootstrap.clone().handler(heartbeat).connect();
            connect.await();
            if (!connect.isSuccess()) {
                return channels.size() + " then " + connect.cause().toString().replace('\n', ' ');
            }
            channels.add(connect.channel());
            heartbeats.add(heartbeat);
        }
        return channels.size() + " then none";
    }

    /** The same, with connects that do not wait for each other. Numbers in the reasons are left out. */
    private static String connectAtOnce(Bootstrap bootstrap, List<Channel> channels, List<Heartbeat> heartbeats,
                                        int number) throws InterruptedException {
        List<Heartbeat> started = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            started.add(new Heartbeat("connection " + i, 16));
            connects.add(bootstrap.clone().handler(started.getLast()).connect());
        }
        Set<String> causes = new TreeSet<>();
        for (int i = 0; i < number; i++) {
            ChannelFuture connect = connects.get(i).await();
            if (connect.isSuccess()) {
                channels.add(connect.channel());
                heartbeats.add(started.get(i));
            } else {
                causes.add(connect.cause().toString().replace('\n', ' ').replaceAll("[0-9]+", "#"));
            }
        }
        return channels.size() + " then " + (causes.isEmpty() ? "none" : String.join(REASON_SEPARATOR, causes));
    }

    private static String beats(List<Heartbeat> heartbeats) throws InterruptedException {
        for (Heartbeat heartbeat : heartbeats) {
            long before = heartbeat.beats();
            for (int i = 0; heartbeat.beats() < before + 3; i++) {
                if (i == 2000) {
                    return "none: " + heartbeat;
                }
                Thread.sleep(5);
            }
            try {
                heartbeat.check();
            } catch (AssertionError e) {
                return "failed: " + e.getCause();
            }
        }
        return "all";
    }
}
