// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.FullQueueTest;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.RejectedExecutionHandler;

import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;

/** The same with a loop of Netty 4.2, of which a handler can have no task but by asking for room. */
public class FullIoQueueTest extends FullQueueTest {

    private static final class Loop extends SingleThreadIoEventLoop {

        Loop(Group parent, Executor executor, IoHandlerFactory factory, Queue<Runnable> queue,
             RejectedExecutionHandler handler) {
            super(parent, executor, factory, queue, new ArrayBlockingQueue<>(1), handler);
        }
    }

    private static final class Group extends MultiThreadIoEventLoopGroup {

        Group(RejectedExecutionHandler handler, Queue<Runnable> queue) {
            super(1, (Executor) null, UcxIoHandler.newFactory(), handler, queue);
        }

        @Override
        @SuppressWarnings("unchecked")
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
            return new Loop(this, executor, factory, (Queue<Runnable>) arguments[1],
                    (RejectedExecutionHandler) arguments[0]);
        }
    }

    @Override
    protected EventLoopGroup group(RejectedExecutionHandler handler, Queue<Runnable> queue) {
        return new Group(handler, queue);
    }

    @Override
    protected boolean asksNobody() {
        return false;
    }
}
