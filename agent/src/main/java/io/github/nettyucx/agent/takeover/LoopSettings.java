// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;

import java.util.ArrayList;
import java.util.List;

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
        RejectedExecutionHandler rejected = RejectedExecutionHandlers.reject();
        List<EventLoopTaskQueueFactory> queues = new ArrayList<>();
        for (Object argument : arguments) {
            if (argument instanceof RejectedExecutionHandler handler) {
                rejected = handler;
            } else if (argument instanceof EventLoopTaskQueueFactory queue) {
                queues.add(queue);
            }
        }
        return new LoopSettings(rejected, queues.isEmpty() ? null : queues.getFirst(),
                queues.size() < 2 ? null : queues.get(1));
    }
}
