// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Sends an input stream and copies to an output stream what returns, until the input ends and all of it is back. */
final class EchoClient {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final int CHUNK = 64 * 1024;
    private static final long SHUTDOWN_SECONDS = 5;

    private final TransportKind transport;
    private final InputStream in;
    private final OutputStream out;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicReference<IOException> unreadable = new AtomicReference<>();
    /** Until then the server has no reason to end the connection, even if it has returned all that it got. */
    private volatile boolean inputEnded;

    EchoClient(TransportKind transport, InputStream in, OutputStream out) {
        this.transport = transport;
        this.in = in;
        this.out = out;
    }

    /**
     * Blocks until the connection has ended; not for an event loop.
     *
     * @param connected is told the lane once there is a connection
     */
    void run(HostAndPort server, Consumer<String> connected) throws InterruptedException {
        transport.ensureAvailable();
        var address = server.resolve();
        var handler = new EchoClientHandler(out);
        var group = transport.newEventLoopGroup(1);
        var output = new DefaultEventExecutorGroup(1);
        try {
            var connecting = new Bootstrap()
                    .group(group)
                    .channel(transport.socketChannel())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                    // The handler asks for data when it has place for it.
                    .option(ChannelOption.AUTO_READ, false)
                    .handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(output, handler);
                        }
                    })
                    .connect(address)
                    .await();
            if (!connecting.isSuccess()) {
                throw new ExampleFailure("cannot connect to " + server + ": " + Explanation.of(connecting.cause()),
                        connecting.cause());
            }
            var channel = (SocketChannel) connecting.channel();
            connected.accept(transport.lane(channel));
            // A thread of its own, because reading a terminal cannot be interrupted: it must not keep us from leaving
            // when the server goes first.
            Thread.ofPlatform().daemon().name("echo-input").start(() -> send(channel));
            handler.done().await();
        } finally {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            output.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
        if (unreadable.get() != null) {
            throw new ExampleFailure("cannot read standard input: " + unreadable.get().getMessage(), unreadable.get());
        }
        var failure = handler.done().cause();
        if (failure != null || !inputEnded || handler.bytes() != sent.get()) {
            throw new ExampleFailure(handler.bytes() + " of " + sent.get() + " bytes came back"
                    + (failure == null ? ", then the server closed the connection" : ": " + Explanation.of(failure)),
                    failure);
        }
    }

    private void send(SocketChannel channel) {
        try {
            ChannelFuture last = channel.newSucceededFuture();
            var chunk = new byte[CHUNK];
            for (int length; (length = in.read(chunk)) >= 0;) {
                last = channel.writeAndFlush(channel.alloc().directBuffer(length).writeBytes(chunk, 0, length));
                sent.addAndGet(length);
                if (!channel.isWritable()) {
                    // Enough is on its way: read on when this much is gone.
                    last.awaitUninterruptibly();
                }
                if (last.isDone() && !last.isSuccess()) {
                    return;
                }
            }
            inputEnded = true;
            // What is still unsent would fail if the output were shut down now.
            last.addListener(_ -> channel.shutdownOutput()
                    .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE));
        } catch (IOException e) {
            unreadable.set(e);
            channel.close();
        }
    }
}
