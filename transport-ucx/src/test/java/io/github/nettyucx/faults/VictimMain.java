// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.HandshakeBytes;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.RawPeer;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/** A program that brings itself to a {@link KillPoint}, says that it is ready, and goes on until it is killed. */
final class VictimMain {

    static final int CONNECTIONS = 3;
    /** Bytes in which the first words of a client and of a server do not differ. */
    private static final int SAME = 10;

    private VictimMain() {
    }

    /**
     * @param arguments the kill point, a seed, the port to connect to when it is told to, or 0 to listen, the file of
     *                  the {@link Progress.Record}, and whether it accepts connections
     */
    public static void main(String[] arguments) throws Exception {
        KillPoint point = KillPoint.valueOf(arguments[0]);
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[1]));
        int port = Integer.parseInt(arguments[2]);
        if (port != 0) {
            Child.say("connects");
            Child.nextCommand();
        }
        if (point.killed == null) {
            stayMute(port, random);
            return;
        }
        Progress.Record record = new Progress.Record(Path.of(arguments[3]));
        boolean accepting = Boolean.parseBoolean(arguments[4]);
        // The loop's.
        List<Traffic> all = new ArrayList<>();
        Runnable note = () -> record.write(all.stream().map(Traffic::progress).reduce(Progress.NONE, Progress::plus));
        CountDownLatch ready = new CountDownLatch(CONNECTIONS);
        EventLoopGroup group = TestLoops.newGroup(1);
        ChannelHandler handler = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                Traffic traffic = new Traffic(point.killed, random.split(), ready::countDown, note);
                all.add(traffic);
                if (point.isChurning()) {
                    // There are many, and their bytes are nobody's matter.
                    channel.closeFuture().addListener(closed -> all.remove(traffic));
                }
                channel.pipeline().addLast(traffic);
            }
        };
        if (port == 0) {
            InetSocketAddress address = (InetSocketAddress) new ServerBootstrap().group(group)
                    .channel(UcxServerSocketChannel.class).option(ChannelOption.AUTO_READ, accepting)
                    .childOption(ChannelOption.SO_RCVBUF, Traffic.WINDOW).childHandler(handler)
                    .bind(Peers.loopback(0)).sync().channel().localAddress();
            Child.say("port " + address.getPort());
            if (!accepting) {
                Child.say("ready");
            }
        } else {
            new Churn(new Bootstrap().group(group).channel(UcxSocketChannel.class)
                    .option(ChannelOption.SO_RCVBUF, Traffic.WINDOW).handler(handler),
                    Peers.loopback(port), point.isChurning()).start(CONNECTIONS);
        }
        ready.await();
        Child.say("ready");
        Child.nextCommand();
    }

    /** Without a word of the handshake, or with half of one. */
    private static void stayMute(int port, SplittableRandom random) throws Exception {
        RawPeer peer = new RawPeer();
        byte[] hello = HandshakeBytes.hello("shm,tcp,socket");
        // An ANSWER begins with the same bytes.
        int said = random.nextInt(port == 0 ? SAME : hello.length);
        if (port == 0) {
            Child.say("port " + peer.listen().getPort());
            peer.accept();
        } else {
            peer.connect(Peers.loopback(port));
        }
        peer.say(Arrays.copyOf(hello, said));
        Child.say("ready");
        peer.until(() -> false, "nobody kills this process");
    }
}
