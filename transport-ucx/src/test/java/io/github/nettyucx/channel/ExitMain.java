// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.SingleThreadEventExecutor;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A program that writes to a server, and ends as soon as it has been told that this has succeeded. */
final class ExitMain {

    static final long SEED = 4711;
    /** What is printed right before the end begins, where somebody takes its time. */
    static final String ENDING = "ending";

    /** How it ends. */
    enum End {
        /** By {@code System.exit} on its main thread, when the writes have succeeded. */
        EXIT,
        /** The same in the listener of the last write's promise, on the event loop. */
        EXIT_ON_LOOP,
        /** In the listener of the first write's promise, when the others are flushed as well. */
        EXIT_AT_THE_FIRST_WRITE,
        /** In {@code channelRead}, behind the writes. */
        EXIT_IN_READ,
        /** {@code main} returns when the writes have succeeded, and the event loop is a daemon. */
        RETURN,
        /** By {@code System.exit} when the channel is closed. */
        CLOSE,
        /** The same when everything had been sent before the close, which is done then before the peer knows. */
        CLOSE_WHEN_SENT,
        /** By a signal that comes right after such a close. */
        SIGNAL_AFTER_CLOSE,
        /** By a signal that comes while a close delivers what had been written before. */
        SIGNAL_WHILE_CLOSING,
        /** By a signal that comes when the channel has been closed, and its loop has other things to do before that. */
        SIGNAL_BEFORE_THE_LOOP_CLOSES,
        /** By {@code System.exit} when nothing has succeeded yet. */
        EXIT_AT_ONCE,
        /** By a signal that comes while the loop does something else for ever. */
        SIGNAL_WHILE_BLOCKED,
        /** By {@code System.exit}, after which a shutdown hook writes, and closes the channel. */
        EXIT_WITH_HOOK,
        /** By a signal, after which a shutdown hook writes, and closes the channel. */
        SIGNAL
    }

    private ExitMain() {
    }

    /** @param arguments the server's port, the {@link End}, how many bytes to write, and the size of one write */
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        End end = End.valueOf(arguments[1]);
        int total = Integer.parseInt(arguments[2]);
        int size = Integer.parseInt(arguments[3]);
        Channel channel = new Bootstrap()
                .group(TestLoops.newGroup(1, new DefaultThreadFactory("daemon", true)))
                .channel(UcxSocketChannel.class).handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        ReferenceCountUtil.release(message);
                        if (end == End.EXIT_IN_READ) {
                            write(context.channel(), total, size, null);
                            System.exit(0);
                        }
                    }
                }).connect(Peers.loopback(port)).sync().channel();
        switch (end) {
            case EXIT -> {
                write(channel, total, size).sync();
                System.exit(0);
            }
            case EXIT_ON_LOOP -> {
                write(channel, total, size).addListener(done -> System.exit(0));
                // Nothing else ends the JVM.
                Thread.currentThread().join();
            }
            case EXIT_AT_THE_FIRST_WRITE -> {
                write(channel, total, size, done -> System.exit(0));
                Thread.currentThread().join();
            }
            case EXIT_IN_READ -> Thread.currentThread().join();
            case RETURN -> write(channel, total, size).sync();
            case CLOSE -> {
                write(channel, total, size);
                channel.close().sync();
                System.exit(0);
            }
            case CLOSE_WHEN_SENT -> {
                write(channel, total, size).sync();
                channel.close().sync();
                System.exit(0);
            }
            case SIGNAL_AFTER_CLOSE -> {
                write(channel, total, size).sync();
                channel.close().sync();
                terminate();
            }
            case SIGNAL_WHILE_CLOSING -> {
                write(channel, total, size);
                channel.close();
                terminate();
            }
            case SIGNAL_BEFORE_THE_LOOP_CLOSES -> {
                CountDownLatch begun = new CountDownLatch(1);
                CompletableFuture<Integer> queued = new CompletableFuture<>();
                SingleThreadEventExecutor loop = (SingleThreadEventExecutor) channel.eventLoop();
                loop.execute(() -> {
                    begun.countDown();
                    // Until the end of the JVM asks the loop. If it does not, it comes in the middle of this.
                    for (int before = queued.join(); loop.pendingTasks() == before;) {
                        Thread.onSpinWait();
                    }
                });
                begun.await();
                write(channel, total, size);
                channel.close();
                queued.complete(loop.pendingTasks());
                terminate();
            }
            case EXIT_AT_ONCE -> {
                write(channel, total, size);
                System.out.println(ENDING + ' ' + System.nanoTime());
                System.exit(0);
            }
            case SIGNAL_WHILE_BLOCKED -> {
                CountDownLatch begun = new CountDownLatch(1);
                channel.eventLoop().execute(() -> {
                    begun.countDown();
                    while (true) {
                        LockSupport.park();
                    }
                });
                begun.await();
                System.out.println(ENDING + ' ' + System.nanoTime());
                terminate();
            }
            case EXIT_WITH_HOOK -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(channel, total, size)));
                System.exit(0);
            }
            case SIGNAL -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(channel, total, size)));
                terminate();
            }
        }
    }

    private static void terminate() throws Exception {
        new ProcessBuilder("kill", "-TERM", Long.toString(ProcessHandle.current().pid())).start();
        Thread.currentThread().join();
    }

    private static void drain(Channel channel, int total, int size) {
        try {
            // Longer than it would take to close the channel.
            Thread.sleep(500);
            write(channel, total, size);
            channel.close().sync();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** @return the future of the last write */
    private static ChannelFuture write(Channel channel, int total, int size) {
        return write(channel, total, size, null);
    }

    /** @param first is told of the first write */
    private static ChannelFuture write(Channel channel, int total, int size, ChannelFutureListener first) {
        byte[] bytes = new SeededBytes(SEED).at(0, total);
        ChannelFuture last = null;
        for (int position = 0; position < total; position += size) {
            ByteBuf piece = Unpooled.directBuffer(size)
                    .writeBytes(Arrays.copyOfRange(bytes, position, Math.min(total, position + size)));
            last = channel.write(piece);
            if (position == 0 && first != null) {
                last.addListener(first);
            }
        }
        channel.flush();
        return last;
    }
}
