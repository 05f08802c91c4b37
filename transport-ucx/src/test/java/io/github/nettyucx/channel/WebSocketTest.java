// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketClientCompressionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Netty's WebSocket handlers over the channel: messages in several frames, compressed ones, and the closing handshake. */
class WebSocketTest {

    private static final int MAX_FRAME = 4 * 1024 * 1024;
    private static final long SEED = 4711;
    private static final long SECONDS = 30;

    /** The other side's messages, each in one piece. */
    private static final class Messages extends SimpleChannelInboundHandler<WebSocketFrame> {

        final CompletableFuture<Void> open = new CompletableFuture<>();
        final BlockingQueue<WebSocketFrame> queue = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            queue.add(frame.retain());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                open.complete(null);
            }
        }

        WebSocketFrame next() throws InterruptedException {
            return assertInstanceOf(WebSocketFrame.class, queue.poll(SECONDS, TimeUnit.SECONDS));
        }
    }

    private static final class Counter extends ChannelInboundHandlerAdapter {

        final AtomicLong bytes = new AtomicLong();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes.addAndGet(((ByteBuf) message).readableBytes());
            context.fireChannelRead(message);
        }
    }

    private static void serve(ChannelPipeline pipeline, boolean compressed) {
        pipeline.addLast(new HttpServerCodec(), new HttpObjectAggregator(65536));
        if (compressed) {
            pipeline.addLast(new WebSocketServerCompressionHandler(0));
        }
        pipeline.addLast(new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                .websocketPath("/ws").allowExtensions(compressed).maxFramePayloadLength(MAX_FRAME).build()));
        pipeline.addLast(new SimpleChannelInboundHandler<WebSocketFrame>(false) {
            @Override
            protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
                context.writeAndFlush(frame);
            }
        });
    }

    private static void use(ChannelPipeline pipeline, boolean compressed, Counter counter, Messages messages) {
        pipeline.addLast(counter, new HttpClientCodec(), new HttpObjectAggregator(65536));
        if (compressed) {
            pipeline.addLast(new WebSocketClientCompressionHandler(0));
        }
        pipeline.addLast(new WebSocketClientProtocolHandler(WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri("ws://localhost/ws").allowExtensions(compressed).maxFramePayloadLength(MAX_FRAME)
                .handleCloseFrames(false).build()));
        pipeline.addLast(new WebSocketFrameAggregator(MAX_FRAME), messages);
    }

    @OnEachLane
    void messagesInSeveralFrames() throws Exception {
        exchange(false);
    }

    @OnEachLane
    void compressedMessages() throws Exception {
        exchange(true);
    }

    private static void exchange(boolean compressed) throws Exception {
        Messages messages = new Messages();
        Counter counter = new Counter();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> serve(pipeline, compressed));
            Channel client = peers.connect(server, pipeline -> use(pipeline, compressed, counter, messages));
            messages.open.get(SECONDS, TimeUnit.SECONDS);

            client.write(new TextWebSocketFrame(false, 0, "one, "));
            client.write(new ContinuationWebSocketFrame(false, 0, "two, "));
            client.writeAndFlush(new ContinuationWebSocketFrame(true, 0, "three"));
            TextWebSocketFrame text = assertInstanceOf(TextWebSocketFrame.class, messages.next());
            assertEquals("one, two, three", text.text());
            text.release();

            String repeated = "again and ".repeat(100_000);
            long before = counter.bytes.get();
            client.writeAndFlush(new TextWebSocketFrame(repeated));
            text = assertInstanceOf(TextWebSocketFrame.class, messages.next());
            assertEquals(repeated, text.text());
            text.release();
            long bytes = counter.bytes.get() - before;
            assertTrue(compressed ? bytes < 100_000 : bytes > 1_000_000, () -> bytes + " bytes came");

            byte[] binary = new SeededBytes(SEED).at(0, 2_000_000);
            client.writeAndFlush(new BinaryWebSocketFrame(client.alloc().buffer().writeBytes(binary)));
            BinaryWebSocketFrame answer = assertInstanceOf(BinaryWebSocketFrame.class, messages.next());
            byte[] answered = new byte[answer.content().readableBytes()];
            answer.content().readBytes(answered);
            assertArrayEquals(binary, answered);
            answer.release();

            client.writeAndFlush(new CloseWebSocketFrame(1000, "enough"));
            CloseWebSocketFrame close = assertInstanceOf(CloseWebSocketFrame.class, messages.next());
            assertEquals(1000, close.statusCode());
            close.release();
            // The server closes after its own close frame.
            Peers.await(client.closeFuture());
        }
    }
}
