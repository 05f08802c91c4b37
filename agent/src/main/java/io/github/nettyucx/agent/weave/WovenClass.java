// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

/**
 * The classes that ask the agent: Netty's, by their names below the package that is {@code io.netty} in a copy, and the one of
 * Reactor Netty's that does a bootstrap's work itself.
 */
enum WovenClass {
    /** Makes the channels of bootstraps. */
    BOOTSTRAP("/bootstrap/AbstractBootstrap"),
    /** Registers channels with their loops. */
    UNSAFE("/channel/AbstractChannel$AbstractUnsafe"),
    /** Makes Netty 4.2's loops. */
    IO_GROUP("/channel/MultiThreadIoEventLoopGroup"),
    /** Registers what an application has of handles without channels, on Netty 4.2. */
    IO_LOOP("/channel/SingleThreadIoEventLoop"),
    NIO_GROUP("/channel/nio/NioEventLoopGroup"),
    EPOLL_GROUP("/channel/epoll/EpollEventLoopGroup"),
    /** Netty 4.1's, of the incubator. */
    IO_URING_GROUP("/incubator/channel/uring/IOUringEventLoopGroup"),
    /** Makes the channels of Reactor Netty. */
    REACTOR("reactor/netty/transport/TransportConnector");

    private static final String NETTY = "io/netty";

    private static final WovenClass[] ALL = values();

    private final String suffix;

    WovenClass(String suffix) {
        this.suffix = suffix;
    }

    /** @param name with slashes. @return {@code null} if it is none of them */
    static WovenClass of(String name) {
        // Asked for each class that the JVM loads.
        if (name.endsWith("Bootstrap") || name.endsWith("Unsafe") || name.endsWith("Group")
                || name.endsWith("IoEventLoop") || name.endsWith("TransportConnector")) {
            for (WovenClass each : ALL) {
                if (name.endsWith(each.suffix)) {
                    return each;
                }
            }
        }
        return null;
    }

    /** The package, with slashes, that is {@code io.netty} in the copy that a class of this kind belongs to, or goes with. */
    String root(String name) {
        String before = name.substring(0, name.length() - suffix.length());
        // Who relocates both gives them the same prefix.
        return this == REACTOR ? before + NETTY : before;
    }

    /** The name, with slashes, in the copy of that package: the other way round. */
    String name(String root) {
        return root + suffix;
    }

    /** Whether it makes loops. */
    boolean isGroup() {
        return this == IO_GROUP || this == NIO_GROUP || this == EPOLL_GROUP || this == IO_URING_GROUP;
    }

    /** Whether it is in Netty's jar with channels and bootstraps, whose class loader the copy's is. */
    boolean isCore() {
        return this != EPOLL_GROUP && this != IO_URING_GROUP && this != REACTOR;
    }
}
