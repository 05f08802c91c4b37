// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import org.junit.jupiter.api.Test;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LoopTaskTest {

    private static final int ROOM = 16;

    private static DefaultEventExecutor loop(RejectedExecutionHandler handler) {
        return new DefaultEventExecutor(null, new DefaultThreadFactory("full"), ROOM, handler);
    }

    @Test
    void aLoopThatHasNoRoomRunsItLater() throws Exception {
        for (RejectedExecutionHandler handler : new RejectedExecutionHandler[] {RejectedExecutionHandlers.reject(),
                (task, executor) -> {
                    throw new IllegalStateException("overloaded");
                }}) {
            DefaultEventExecutor loop = loop(handler);
            var go = new CountDownLatch(1);
            var ran = new CountDownLatch(1);
            var begun = new CountDownLatch(1);
            loop.execute(() -> {
                begun.countDown();
                awaitUninterruptibly(go);
            });
            begun.await();
            for (int i = 0; i < ROOM; i++) {
                loop.execute(() -> { });
            }
            assertThrows(RuntimeException.class, () -> loop.execute(() -> { }), "there is room");
            LoopTask.execute(loop, ran::countDown);
            assertEquals(1, ran.getCount());
            go.countDown();
            assertTrue(ran.await(15, TimeUnit.SECONDS), "it is forgotten");
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aLoopThatHasEndedIsLeft() {
        var asked = new AtomicInteger();
        DefaultEventExecutor loop = loop((task, executor) -> {
            asked.incrementAndGet();
            throw new RejectedExecutionException();
        });
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        LoopTask.execute(loop, () -> { });
        assertEquals(0, asked.get(), "Netty's own rejection comes first");
        assertFalse(loop.inEventLoop());
    }
}
