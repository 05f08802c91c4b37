// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The death of a peer's process in the middle of its writes is noticed, and nobody else's business. Over shared memory
 * such a process leaves a hole in the queue of the worker that it wrote to, which then receives nothing more.
 */
@Tag("ucx-matrix")
@Tag("faults")
@Tag("in-every-build")
class KilledPeerTest {

    private static final int KILLS = 3 * Integer.getInteger("io.github.nettyucx.test.scale", 1);
    private static final int KILOBYTES_BEFORE = 20 * 1024;
    private static final long SECONDS = 20;

    /** Of the server: the connections of the process that is going to be killed. */
    private final ChannelGroup doomed = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private volatile CountDownLatch connected;
    private volatile CountDownLatch received;

    @OnEachLane(timeoutSeconds = 180)
    void theOthersGoOnWhenAPeerIsKilledInTheMiddleOfItsWrites() throws Exception {
        LeakWatch leaks = new LeakWatch();
        try (Peers peers = new Peers()) {
            UcxServerSocketChannel echo = peers.listen(EchoHandler::new);
            UcxServerSocketChannel server = peers.listen(peers.server(FloodedHandler::new)
                    .childOption(ChannelOption.ALLOCATOR, leaks.allocator));
            Answers answers = new Answers();
            Channel survivor = peers.connect(echo, answers);
            for (int i = 0; i < KILLS; i++) {
                killInTheMiddle(server);
                survivor.writeAndFlush(Unpooled.copyInt(i));
                assertEquals(i, answers.queue.poll(SECONDS, TimeUnit.SECONDS), "the survivor's answer");
                // Newcomers are served as well.
                Peers.await(peers.connect(echo, new Inbox()).close());
            }
            EventLoop loop = TestLoops.first(peers.serverGroup);
            // On these lanes all share a worker, and with it go operations of which a dead peer has sent only a part.
            awaitGone(loop, 1, Lane.current().isShared());
            Peers.await(survivor.close());
            awaitGone(loop, 0, false);
        }
        leaks.assertNothingLeft();
    }

    private void killInTheMiddle(UcxServerSocketChannel server) throws Exception {
        connected = new CountDownLatch(FloodMain.CONNECTIONS);
        received = new CountDownLatch(KILOBYTES_BEFORE);
        Process process = new ProcessBuilder(LaneJvm.command(
                Lane.current(), FloodMain.class, Integer.toString(server.localAddress().getPort())))
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertTrue(connected.await(SECONDS, TimeUnit.SECONDS), "the process does not connect");
            assertTrue(received.await(SECONDS, TimeUnit.SECONDS), "the process does not write");
        } finally {
            process.destroyForcibly().waitFor();
        }
        List<Channel> channels = new ArrayList<>(doomed);
        for (Channel channel : channels) {
            assertTrue(channel.closeFuture().await(SECONDS, TimeUnit.SECONDS), "the death is not noticed");
        }
    }

    private static void awaitGone(EventLoop loop, int workers, boolean operationsMayStay) throws Exception {
        IoDriver driver = TestLoops.driver(loop);
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> loop.submit(() -> driver.engine().workerCount()).get()
                        + " workers are kept, and " + loop.submit(() -> driver.engine().orphanCount()).get()
                        + " operations of dead connections; expected " + workers + " workers",
                () -> loop.submit(() -> driver.engine().workerCount() <= workers
                        && (operationsMayStay || driver.engine().orphanCount() == 0)).get());
    }

    /** Sends everything back, so that both sides' queues are full when the process is killed. */
    private final class FloodedHandler extends ChannelInboundHandlerAdapter {

        private long kilobytes;
        private long bytes;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            doomed.add(context.channel());
            connected.countDown();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes += ((ByteBuf) message).readableBytes();
            for (; kilobytes < bytes >> 10; kilobytes++) {
                received.countDown();
            }
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
            if (!context.channel().isWritable()) {
                context.channel().config().setAutoRead(false);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!(cause instanceof IOException)) {
                context.fireExceptionCaught(cause);
            }
        }
    }

    private static final class EchoHandler extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Answers extends ChannelInboundHandlerAdapter {

        private final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            queue.add(buffer.readInt());
            buffer.release();
        }
    }
}
