// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.messaging.Node;
import io.github.nettyucx.messaging.Responder;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A node that counts messages and answers calls, on one event loop. */
final class MessagingServer implements MeasuredServer {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final long[] threads;
    private final Node node;
    private final CountDownLatch stop = new CountDownLatch(1);

    // Of the event loop.
    private long received;
    private long awaited = -1;
    private Responder<Long> waiting;

    private MessagingServer(Task task) throws InterruptedException {
        var transport = task.setting().transport();
        group = transport.newEventLoopGroup(1);
        threads = Loops.start(group);
        node = Node.builder(Messages.SERVER).transport(group, transport.socketChannel(), transport.serverSocketChannel())
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).start();
        var messages = new Messages(task.scenario().size());
        node.onMessage(messages.message, (_, _) -> {
            if (++received == awaited) {
                waiting.respond(received);
            }
        });
        node.onRequest(messages.call, (_, call, responder) -> responder.respond(call));
        node.onRequest(Messages.AWAIT, (_, count, responder) -> {
            if (received >= count) {
                responder.respond(received);
            } else {
                awaited = count;
                waiting = responder.detach();
            }
        });
    }

    static MessagingServer start(Task task) throws InterruptedException {
        return new MessagingServer(task);
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) node.address());
    }

    @Override
    public ProcessState state() {
        return ProcessState.now(threads);
    }

    @Override
    public void stop() {
        stop.countDown();
    }

    @Override
    public void awaitStop() throws InterruptedException {
        stop.await();
    }

    @Override
    public void close() {
        node.close();
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
