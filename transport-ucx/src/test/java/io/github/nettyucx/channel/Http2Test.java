// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Netty's HTTP/2 handlers over the channel: streams beside each other, with flow control of their own. */
class Http2Test {

    private static final int MIB = 1024 * 1024;
    private static final int STREAMS = 8;
    private static final int BODY = MIB;
    private static final int FRAME = 16 * 1024;
    /** Of a stream; much less than a connection's, so that a stream that is not read does not hold up the others. */
    private static final int WINDOW = 8 * 1024;
    private static final long SECONDS = 40;

    private static Http2Settings settings() {
        return new Http2Settings().initialWindowSize(WINDOW);
    }

    /** Sends each stream back as it comes. */
    private static final class Echo extends SimpleChannelInboundHandler<Http2StreamFrame> {

        Echo() {
            super(false);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Http2StreamFrame frame) {
            if (frame instanceof Http2HeadersFrame headers) {
                context.write(new DefaultHttp2HeadersFrame(
                        new DefaultHttp2Headers().status("200"), headers.isEndStream()));
            } else if (frame instanceof Http2DataFrame data) {
                context.write(new DefaultHttp2DataFrame(data.content(), data.isEndStream()));
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Checks that the answer's body is a stream of bytes. */
    private static final class Body extends SimpleChannelInboundHandler<Http2StreamFrame> {

        final CompletableFuture<Long> length = new CompletableFuture<>();
        private final SeededBytes stream;
        private long position;

        Body(long seed) {
            stream = new SeededBytes(seed);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Http2StreamFrame frame) {
            HandlerPeers.failing(length, () -> {
                if (frame instanceof Http2HeadersFrame headers) {
                    assertEquals("200", headers.headers().status().toString());
                } else if (frame instanceof Http2DataFrame data) {
                    int size = data.content().readableBytes();
                    stream.check(position, data.content());
                    position += size;
                    if (data.isEndStream()) {
                        length.complete(position);
                    }
                }
            });
        }
    }

    private static ChannelHandler streams(ChannelHandler handler) {
        return new ChannelInitializer<Http2StreamChannel>() {
            @Override
            protected void initChannel(Http2StreamChannel stream) {
                stream.pipeline().addLast(handler);
            }
        };
    }

    @OnEachLane(timeoutSeconds = 90)
    void streamsFlowBesideEachOtherAndBesideOneThatIsNotRead() throws Exception {
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(
                    Http2FrameCodecBuilder.forServer().initialSettings(settings()).build(),
                    new Http2MultiplexHandler(new ChannelInitializer<Http2StreamChannel>() {
                        @Override
                        protected void initChannel(Http2StreamChannel stream) {
                            stream.pipeline().addLast(new Echo());
                        }
                    })));
            Channel client = peers.connect(server, pipeline -> pipeline.addLast(
                    Http2FrameCodecBuilder.forClient().initialSettings(settings()).build(),
                    new Http2MultiplexHandler(new ChannelInboundHandlerAdapter())));
            List<Body> bodies = new ArrayList<>();
            List<Http2StreamChannel> streams = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                Body body = new Body(i);
                Http2StreamChannel stream = Peers.await(
                        new Http2StreamChannelBootstrap(client).handler(streams(body)).open()).getNow();
                stream.config().setAutoRead(i > 0);
                bodies.add(body);
                streams.add(stream);
                send(stream, i);
            }
            for (int i = 1; i < STREAMS; i++) {
                assertEquals(BODY, bodies.get(i).length.get(SECONDS, TimeUnit.SECONDS));
            }
            assertFalse(bodies.get(0).length.isDone(), "a stream that is not read has come to its end");
            streams.get(0).config().setAutoRead(true);
            assertEquals(BODY, bodies.get(0).length.get(SECONDS, TimeUnit.SECONDS));
            for (Http2StreamChannel stream : streams) {
                Peers.await(stream.closeFuture());
            }
            Peers.await(client.close());
        }
    }

    private static void send(Http2StreamChannel stream, long seed) {
        SeededBytes bytes = new SeededBytes(seed);
        stream.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().method("POST").scheme("http").path("/")));
        for (int position = 0; position < BODY; position += FRAME) {
            ByteBuf content = stream.alloc().buffer(FRAME).writeBytes(bytes.at(position, FRAME));
            stream.write(new DefaultHttp2DataFrame(content, position + FRAME == BODY));
        }
        stream.flush();
    }
}
