// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Reactor Netty's TCP server and client over UCX. */
class TcpTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PIECE = 4096;
    private static final int PIECES = 16 * 1024;
    /** What can be on its way to a reader that does not read: in the windows of UCX and the buffers of both sides. */
    private static final long ON_ITS_WAY = PIECES / 4;
    /** So many looks in which nothing more has been asked for: one may fall into a moment without a processor. */
    private static final int STILL = 10;

    private final UcxLoopResources ucx = UcxLoopResources.create("tcp", 1, 2, true, true,
            UcxWaitStrategy.PARK);

    @AfterEach
    void dispose() {
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    private TcpServer server() {
        return TcpServer.create().runOn(ucx).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0));
    }

    private TcpClient client(DisposableServer server) {
        return TcpClient.create().runOn(ucx).remoteAddress(server::address);
    }

    @Test
    void echo() {
        DisposableServer server = server().handle((in, out) -> out.send(in.receive().retain())).bindNow(PATIENCE);
        assertInstanceOf(UcxServerSocketChannel.class, server.channel());
        Connection client = client(server).connectNow(PATIENCE);
        UcxSocketChannel channel = assertInstanceOf(UcxSocketChannel.class, client.channel());
        assertTrue(channel.lane().matches("sysv|posix"), channel::lane);
        assertTrue(channel.eventLoop().submit(() -> Thread.currentThread().getName()).syncUninterruptibly().getNow()
                .startsWith("tcp-ucx-"));
        client.outbound().sendString(Flux.just("Hello, ", "world")).then().block(PATIENCE);
        String answer = client.inbound().receive().asString().scan(String::concat)
                .filter(text -> text.length() == 12).blockFirst(PATIENCE);
        assertEquals("Hello, world", answer);
        client.disposeNow(PATIENCE);
        server.disposeNow(PATIENCE);
    }

    /** The sender is asked for no more than what fits on the way; and all of it arrives once the reader reads. */
    @Test
    void aReaderThatDoesNotAskHoldsUpTheSender() throws Exception {
        AtomicLong asked = new AtomicLong();
        DisposableServer server = server().handle((in, out) -> out.send(Flux.range(0, PIECES).map(i -> {
            asked.incrementAndGet();
            return piece(i);
        }))).bindNow(PATIENCE);
        Connection client = client(server).option(ChannelOption.SO_RCVBUF, 1024 * 1024).connectNow(PATIENCE);
        CompletableFuture<Long> received = new CompletableFuture<>();
        Reader reader = new Reader(received);
        client.inbound().receive().subscribe(reader);

        long before = -1;
        int still = 0;
        while (still < STILL) {
            // Nothing tells that a sender has stopped, but that it does no more for a while.
            Thread.sleep(100);
            long now = asked.get();
            still = now == 0 || now != before ? 0 : still + 1;
            before = now;
        }
        assertTrue(asked.get() < ON_ITS_WAY, () -> asked + " of " + PIECES + " pieces were asked for");
        reader.request(Long.MAX_VALUE);
        assertEquals((long) PIECES * PIECE, received.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(PIECES, asked.get());
        client.disposeNow(PATIENCE);
        server.disposeNow(PATIENCE);
    }

    private static ByteBuf piece(int index) {
        byte[] bytes = new byte[PIECE];
        for (int i = 0; i < PIECE; i++) {
            bytes[i] = expected((long) index * PIECE + i);
        }
        return Unpooled.wrappedBuffer(bytes);
    }

    /** A stream whose every byte depends on where it stands. */
    private static byte expected(long position) {
        return (byte) (position * 31 + position / PIECE);
    }

    /** Asks for one buffer first, and completes when the stream has ended or a byte is wrong. */
    private static final class Reader extends BaseSubscriber<ByteBuf> {

        private final CompletableFuture<Long> received;
        private long position;

        Reader(CompletableFuture<Long> received) {
            this.received = received;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            request(1);
        }

        @Override
        protected void hookOnNext(ByteBuf buffer) {
            byte[] bytes = new byte[buffer.readableBytes()];
            buffer.readBytes(bytes);
            for (byte is : bytes) {
                if (is != expected(position)) {
                    received.completeExceptionally(new AssertionError("byte " + position + " is " + is));
                    cancel();
                    return;
                }
                position++;
            }
            if (position == (long) PIECES * PIECE) {
                received.complete(position);
            }
        }

        @Override
        protected void hookOnComplete() {
            received.complete(position);
        }

        @Override
        protected void hookOnError(Throwable failure) {
            received.completeExceptionally(failure);
        }
    }

    @Test
    void nobodyListens() {
        DisposableServer server = server().handle((in, out) -> Mono.never()).bindNow(PATIENCE);
        TcpClient client = client(server);
        InetSocketAddress address = (InetSocketAddress) server.address();
        server.disposeNow(PATIENCE);
        Throwable failure = assertThrows(Exception.class, () -> client.remoteAddress(() -> address).connectNow(PATIENCE));
        while (!(failure instanceof ConnectException) && failure.getCause() != null) {
            failure = failure.getCause();
        }
        assertInstanceOf(ConnectException.class, failure);
    }
}
