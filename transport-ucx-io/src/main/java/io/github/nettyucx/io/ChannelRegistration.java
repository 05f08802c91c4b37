// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.LoopRegistration;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;

/** A channel's registration with the handler of an event loop. Its attachment is the {@link LoopRegistration}. */
final class ChannelRegistration implements IoRegistration {

    private final ChannelHandle handle;
    private final LoopRegistration registration;
    private volatile boolean cancelled;

    ChannelRegistration(ChannelHandle handle, LoopRegistration registration) {
        this.handle = handle;
        this.registration = registration;
        handle.registered();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T attachment() {
        return (T) registration;
    }

    @Override
    public long submit(IoOps ops) {
        throw new UnsupportedOperationException("the channels of this transport submit no operations: " + ops);
    }

    @Override
    public boolean isValid() {
        return !cancelled;
    }

    /** On the loop's thread, as all that a channel does to its registration. */
    @Override
    public boolean cancel() {
        if (cancelled) {
            return false;
        }
        cancelled = true;
        registration.cancel();
        handle.unregistered();
        return true;
    }
}
