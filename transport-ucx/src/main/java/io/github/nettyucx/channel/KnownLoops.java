// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The kinds of event loops that a channel can be registered with. */
final class KnownLoops {

    private static final List<LoopShape> shapes = new CopyOnWriteArrayList<>();

    private KnownLoops() {
    }

    static void install(LoopShape shape) {
        shapes.add(shape);
    }

    static boolean isCompatible(EventLoop loop) {
        return loop instanceof UcxEventLoop || shapeOf(loop) != null;
    }

    private static LoopShape shapeOf(EventLoop loop) {
        for (LoopShape shape : shapes) {
            if (shape.isCompatible(loop)) {
                return shape;
            }
        }
        return null;
    }

    /** Registers a channel with its loop, whose thread calls, and which is compatible. */
    static LoopRegistration register(Channel channel) throws Exception {
        EventLoop loop = channel.eventLoop();
        return loop instanceof UcxEventLoop ucx ? ucx.attach(channel) : shapeOf(loop).register(loop, channel);
    }
}
