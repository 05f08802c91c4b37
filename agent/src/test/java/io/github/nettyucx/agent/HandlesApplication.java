// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;

/** Asks groups of Netty 4.2 what they take, by which applications choose the classes of their channels. */
public final class HandlesApplication {

    private HandlesApplication() {
    }

    private static void ask(String name, IoEventLoopGroup group) throws Exception {
        System.out.println(name + ": NIO " + group.isCompatible(NioIoHandle.class) + ", epoll "
                + group.isCompatible(EpollIoHandle.class) + ", one loop: NIO " + group.next().isCompatible(NioIoHandle.class));
        group.shutdownGracefully().sync();
    }

    public static void main(String[] arguments) throws Exception {
        ask("NIO", new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()));
        ask("epoll", new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()));
    }
}
