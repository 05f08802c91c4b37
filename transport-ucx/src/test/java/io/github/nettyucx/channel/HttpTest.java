// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.JdkZlibEncoder;
import io.netty.handler.codec.compression.StandardCompressionOptions;
import io.netty.handler.codec.compression.ZlibWrapper;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.stream.ChunkedStream;
import io.netty.handler.stream.ChunkedWriteHandler;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Netty's handlers for HTTP/1.1 and for compression over the channel. */
class HttpTest {

    private static final int MIB = 1024 * 1024;
    private static final long SEED = 4711;
    private static final long SECONDS = 30;

    private static FullHttpRequest get(String uri) {
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri);
        request.headers().set(HttpHeaderNames.HOST, "localhost");
        return request;
    }

    /** Answers each request with its URI. */
    private static final class Uri extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            ByteBuf body = context.alloc().buffer();
            body.writeCharSequence(request.uri(), StandardCharsets.US_ASCII);
            answer(context, request, body);
        }
    }

    private static void answer(ChannelHandlerContext context, HttpRequest request, ByteBuf body) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
        HttpUtil.setContentLength(response, body.readableBytes());
        HttpUtil.setKeepAlive(response, HttpUtil.isKeepAlive(request));
        context.writeAndFlush(response);
        if (!HttpUtil.isKeepAlive(request)) {
            context.close();
        }
    }

    /** The bodies of the answers, as text. */
    private static final class Answers extends SimpleChannelInboundHandler<FullHttpResponse> {

        final BlockingQueue<String> bodies = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            assertEquals(HttpResponseStatus.OK, response.status());
            bodies.add(response.content().toString(StandardCharsets.US_ASCII));
        }

        String next() throws InterruptedException {
            String body = bodies.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(body, "no answer");
            return body;
        }
    }

    @OnEachLane
    void aConnectionIsKeptAliveAndTakesRequestsAheadOfTheAnswers() throws Exception {
        Answers answers = new Answers();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline ->
                    pipeline.addLast(new HttpServerCodec(), new HttpObjectAggregator(MIB), new Uri()));
            Channel client = peers.connect(server, pipeline ->
                    pipeline.addLast(new HttpClientCodec(), new HttpObjectAggregator(MIB), answers));
            for (int i = 0; i < 10; i++) {
                client.writeAndFlush(get("/one/" + i));
                assertEquals("/one/" + i, answers.next());
            }
            for (int i = 0; i < 1000; i++) {
                client.write(get("/many/" + i));
            }
            FullHttpRequest last = get("/last");
            HttpUtil.setKeepAlive(last, false);
            client.writeAndFlush(last);
            for (int i = 0; i < 1000; i++) {
                assertEquals("/many/" + i, answers.next());
            }
            assertEquals("/last", answers.next());
            Peers.await(client.closeFuture());
        }
    }

    /** Sends a body back as it comes. */
    private static final class ChunkedEcho extends SimpleChannelInboundHandler<HttpObject> {

        ChunkedEcho() {
            super(false);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            if (part instanceof HttpRequest) {
                HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                HttpUtil.setTransferEncodingChunked(response, true);
                context.write(response);
            } else {
                context.write(part);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Checks that the body of the answer is the stream. */
    private static final class StreamBody extends SimpleChannelInboundHandler<HttpObject> {

        final CompletableFuture<Long> length = new CompletableFuture<>();
        private final SeededBytes stream = new SeededBytes(SEED);
        private long position;

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            HandlerPeers.failing(length, () -> {
                if (part instanceof HttpResponse response) {
                    assertTrue(HttpUtil.isTransferEncodingChunked(response));
                }
                if (part instanceof HttpContent content) {
                    int size = content.content().readableBytes();
                    stream.check(position, content.content());
                    position += size;
                }
                if (part instanceof LastHttpContent) {
                    length.complete(position);
                }
            });
        }
    }

    @OnEachLane
    void chunkedBodiesInBothDirections() throws Exception {
        int length = 8 * MIB;
        StreamBody body = new StreamBody();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(new HttpServerCodec(), new ChunkedEcho()));
            Channel client = peers.connect(server, pipeline ->
                    pipeline.addLast(new HttpClientCodec(), new ChunkedWriteHandler(), body));
            HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
            request.headers().set(HttpHeaderNames.HOST, "localhost");
            HttpUtil.setTransferEncodingChunked(request, true);
            client.write(request);
            byte[] bytes = new SeededBytes(SEED).at(0, length);
            Peers.await(client.writeAndFlush(
                    new HttpChunkedInput(new ChunkedStream(new ByteArrayInputStream(bytes), 10_000))));
            assertEquals(length, body.length.get(SECONDS, TimeUnit.SECONDS));
            Peers.await(client.close());
        }
    }

    @OnEachLane
    void aBodyIsSentWhenTheServerSaysContinue() throws Exception {
        BlockingQueue<HttpResponseStatus> statuses = new LinkedBlockingQueue<>();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(new HttpServerCodec(),
                    new HttpServerExpectContinueHandler(), new HttpObjectAggregator(MIB), new Uri()));
            Channel client = peers.connect(server, pipeline -> pipeline.addLast(new HttpClientCodec(),
                    new SimpleChannelInboundHandler<HttpObject>() {
                        @Override
                        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
                            if (part instanceof HttpResponse response) {
                                statuses.add(response.status());
                            }
                        }
                    }));
            HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.PUT, "/body");
            request.headers().set(HttpHeaderNames.HOST, "localhost");
            HttpUtil.set100ContinueExpected(request, true);
            HttpUtil.setContentLength(request, 5);
            client.writeAndFlush(request);
            assertEquals(HttpResponseStatus.CONTINUE, statuses.poll(SECONDS, TimeUnit.SECONDS));
            client.writeAndFlush(new DefaultLastHttpContent(Unpooled.copiedBuffer("hello", StandardCharsets.US_ASCII)));
            assertEquals(HttpResponseStatus.OK, statuses.poll(SECONDS, TimeUnit.SECONDS));
            Peers.await(client.close());
        }
    }

    // ------------------------------------------------------------------------------------------- compression

    private static String longText() {
        return "all work and no play makes jack a dull boy\n".repeat(50_000);
    }

    /** Counts what comes from the transport. */
    private static final class Counter extends ChannelInboundHandlerAdapter {

        final AtomicLong bytes = new AtomicLong();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes.addAndGet(((ByteBuf) message).readableBytes());
            context.fireChannelRead(message);
        }
    }

    @OnEachLane
    void bodiesAreCompressed() throws Exception {
        String text = longText();
        Answers answers = new Answers();
        Counter counter = new Counter();
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline -> pipeline.addLast(new HttpServerCodec(),
                    new HttpContentCompressor(StandardCompressionOptions.gzip()), new HttpObjectAggregator(MIB),
                    new SimpleChannelInboundHandler<FullHttpRequest>() {
                        @Override
                        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
                            ByteBuf body = context.alloc().buffer();
                            body.writeCharSequence(text, StandardCharsets.US_ASCII);
                            answer(context, request, body);
                        }
                    }));
            Channel client = peers.connect(server, pipeline -> pipeline.addLast(counter, new HttpClientCodec(),
                    new HttpContentDecompressor(0), new HttpObjectAggregator(8 * MIB), answers));
            for (int i = 0; i < 3; i++) {
                FullHttpRequest request = get("/");
                request.headers().set(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.GZIP);
                client.writeAndFlush(request);
                assertEquals(text, answers.next());
            }
            assertTrue(counter.bytes.get() < text.length() / 10,
                    () -> counter.bytes + " bytes came for 3 times " + text.length());
            Peers.await(client.close());
        }
    }

    @OnEachLane
    void aCompressedStreamEndsWithItsChannel() throws Exception {
        int length = 8 * MIB;
        StreamReader reader = new StreamReader(
                SEED, length, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline ->
                    pipeline.addLast(new JdkZlibDecoder(ZlibWrapper.ZLIB, 0), reader));
            Channel client = peers.connect(server, pipeline -> pipeline.addLast(new JdkZlibEncoder(ZlibWrapper.ZLIB, 1)));
            byte[] bytes = new SeededBytes(SEED).at(0, length);
            for (int i = 0; i < 8; i++) {
                client.writeAndFlush(client.alloc().buffer().writeBytes(bytes, i * MIB, MIB));
            }
            // The encoder ends its stream before.
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        }
    }
}
