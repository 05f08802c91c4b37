// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxConnectMode;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program that makes its first connect on a loop for which there are no descriptors, and another when there are. */
final class FreshLoopMain {

    private static final int NOBODYS_PORT = 1;
    /** The test waits for longer. */
    private static final long SECONDS = 15;

    private FreshLoopMain() {
    }

    public static void main(String[] arguments) throws Exception {
        LoadedClasses.loadAll();
        // What else is loaded once is there as well then.
        ChannelFuture first = connect(TestLoops.newGroup(1));
        first.await();
        EventLoopGroup group = TestLoops.newGroup(1);
        List<InputStream> all = takeAll();
        ChannelFuture connect = connect(group);
        boolean over = connect.await(SECONDS, TimeUnit.SECONDS);
        for (InputStream each : all) {
            each.close();
        }
        Child.say("connect " + (over ? connect.cause() : "hangs"));
        ChannelFuture again = connect(group);
        again.await(SECONDS, TimeUnit.SECONDS);
        Child.say("afterwards " + (again.cause() instanceof ConnectException ? "refused" : again));
        Child.nextCommand();
    }

    private static ChannelFuture connect(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.PLAIN)
                .handler(new ChannelInboundHandlerAdapter()).connect(Peers.loopback(NOBODYS_PORT));
    }

    private static List<InputStream> takeAll() {
        List<InputStream> all = new ArrayList<>();
        try {
            for (;;) {
                all.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            // There are no more.
            return all;
        }
    }
}
