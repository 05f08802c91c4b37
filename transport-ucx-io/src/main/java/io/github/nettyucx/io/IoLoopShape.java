// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.LoopRegistration;
import io.github.nettyucx.channel.LoopShape;
import io.github.nettyucx.lane.LoopLanes;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;

import java.io.IOException;

/** How channels, which know nothing of Netty 4.2, are registered with its event loops: as handles that these count. */
final class IoLoopShape implements LoopShape {

    @Override
    public boolean isCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop io && io.isCompatible(ChannelHandle.class);
    }

    @Override
    public LoopRegistration register(EventLoop loop, Channel channel) throws Exception {
        Future<IoRegistration> future = ((IoEventLoop) loop).register(new ChannelHandle(channel));
        if (!future.isDone()) {
            throw new IllegalStateException(loop + " has not registered " + channel + " at once, on its own thread");
        }
        if (!future.isSuccess()) {
            throw new IOException("failed to register " + channel + " with " + loop, future.cause());
        }
        return new Registered(future.getNow());
    }

    /** The loop's own registration stands before that of the handler: it is the loop that counts. */
    private record Registered(IoRegistration registration) implements LoopRegistration {

        @Override
        public LoopLanes lanes() throws IOException {
            LoopRegistration attachment = registration.attachment();
            return attachment.lanes();
        }

        @Override
        public void cancel() {
            registration.cancel();
        }
    }
}
