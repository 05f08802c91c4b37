// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Remembers what a channel has been told. Of several it remembers all, as if they were one. */
@ChannelHandler.Sharable
class Inbox extends ChannelInboundHandlerAdapter {

    private static final long SECONDS = 15;

    private final CompletableFuture<UcxSocketChannel> active = new CompletableFuture<>();
    private volatile boolean connected;
    private final CompletableFuture<Void> inputShutdown = new CompletableFuture<>();
    private final CompletableFuture<Void> inactive = new CompletableFuture<>();
    private final CompletableFuture<Throwable> exception = new CompletableFuture<>();
    private final List<Throwable> exceptions = new CopyOnWriteArrayList<>();
    private final StringBuilder text = new StringBuilder();

    /** One that does not keep what it reads, which for many bytes takes longer than to send them. */
    static Inbox ofMany() {
        return new Inbox() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ReferenceCountUtil.release(message);
            }
        };
    }

    UcxSocketChannel awaitActive() throws InterruptedException, ExecutionException, TimeoutException {
        return active.get(SECONDS, TimeUnit.SECONDS);
    }

    /** Whether it has been told of a channel that is open. */
    boolean isActive() {
        return active.isDone();
    }

    /** Whether it has been told of a channel that has a connection: one that turns out to have none is active as well. */
    boolean isConnected() {
        return connected;
    }

    void awaitInputShutdown() throws InterruptedException, ExecutionException, TimeoutException {
        inputShutdown.get(SECONDS, TimeUnit.SECONDS);
    }

    void awaitInactive() throws InterruptedException, ExecutionException, TimeoutException {
        inactive.get(SECONDS, TimeUnit.SECONDS);
    }

    /** The first one. */
    Throwable awaitException() throws InterruptedException, ExecutionException, TimeoutException {
        return exception.get(SECONDS, TimeUnit.SECONDS);
    }

    List<Throwable> exceptions() {
        return exceptions;
    }

    /** Waits until this has been read, in Latin-1, and nothing else. */
    synchronized void awaitText(String expected) throws InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!expected.contentEquals(text)) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                throw new TimeoutException("read '" + text + "', not '" + expected + "'");
            }
            wait(left);
        }
    }

    /** What has been read, in Latin-1. */
    synchronized String text() {
        return text.toString();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
        UcxSocketChannel channel = (UcxSocketChannel) context.channel();
        connected = !channel.transports().isEmpty();
        active.complete(channel);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        // At once: the watch for leaks notes each look into a buffer, with a stack trace.
        String read = buffer.toString(StandardCharsets.ISO_8859_1);
        buffer.release();
        synchronized (this) {
            text.append(read);
            notifyAll();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            inputShutdown.complete(null);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        inactive.complete(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        exceptions.add(cause);
        exception.complete(cause);
    }
}
