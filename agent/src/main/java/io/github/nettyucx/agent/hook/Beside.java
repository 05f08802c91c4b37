// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.hook;

import io.netty.channel.EventLoop;

/** A loop of the transport's in the place of one of Netty's, which it can still have beside it. */
public interface Beside {

    /**
     * The loop of Netty's, for channels that the transport does not take. Made when the first one comes. Any thread may
     * call.
     */
    EventLoop loopBeside();
}
