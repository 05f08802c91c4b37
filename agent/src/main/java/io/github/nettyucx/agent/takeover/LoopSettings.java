// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;

/**
 * What a group has been given for each of its loops, whatever their kind.
 *
 * @param rejected  is told of the tasks that a loop does not take
 * @param tasks     makes a loop's queue, or {@code null} for Netty's own
 * @param tailTasks the same for what runs at the end of a turn
 */
record LoopSettings(RejectedExecutionHandler rejected, EventLoopTaskQueueFactory tasks,
                    EventLoopTaskQueueFactory tailTasks) {

    /** Groups pass it on among the arguments of their {@code newChild}. */
    static LoopSettings of(Object[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof RejectedExecutionHandler rejected) {
                return new LoopSettings(rejected, queue(arguments, i + 1), queue(arguments, i + 2));
            }
        }
        return new LoopSettings(RejectedExecutionHandlers.reject(), null, null);
    }

    /** They come right behind the handler, in this order, and each of them may be {@code null}. */
    private static EventLoopTaskQueueFactory queue(Object[] arguments, int index) {
        return index < arguments.length && arguments[index] instanceof EventLoopTaskQueueFactory queue ? queue : null;
    }
}
