// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Netty's TLS handler over the channel: much in both directions, and an end that both sides announce. */
class TlsTest {

    private static final int LENGTH = 8 * 1024 * 1024;
    private static final long SEED = 4711;
    private static final long SECONDS = 30;

    @OnEachLane
    void theJdksEngine() throws Exception {
        transfer(SslProvider.JDK, "TLSv1.3", false);
    }

    @OnEachLane
    void boringSsl() throws Exception {
        assertTrue(OpenSsl.isAvailable(), () -> "no tcnative: " + OpenSsl.unavailabilityCause());
        transfer(SslProvider.OPENSSL, "TLSv1.3", false);
    }

    /** In TLS 1.2 the keys can be negotiated again; the JDK's engine does it, BoringSSL refuses. */
    @OnEachLane
    void aSecondHandshakeOnAnOpenConnection() throws Exception {
        transfer(SslProvider.JDK, "TLSv1.2", true);
    }

    private static void transfer(SslProvider provider, String protocol, boolean renegotiate) throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        SslContext serverTls = SslContextBuilder.forServer(certificate.certificate(), certificate.privateKey())
                .sslProvider(provider).protocols(protocol).build();
        SslContext clientTls = SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null).sslProvider(provider).protocols(protocol).build();
        Echo echo = new Echo();
        StreamReader reader = new StreamReader(
                SEED, LENGTH, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
        try (HandlerPeers peers = new HandlerPeers()) {
            Channel server = peers.listen(pipeline ->
                    pipeline.addLast(serverTls.newHandler(pipeline.channel().alloc()), echo));
            Channel client = peers.connect(server, pipeline ->
                    pipeline.addLast(clientTls.newHandler(pipeline.channel().alloc()), reader));
            SslHandler tls = client.pipeline().get(SslHandler.class);
            tls.setCloseNotifyReadTimeoutMillis(TimeUnit.SECONDS.toMillis(SECONDS));
            Peers.await(tls.handshakeFuture());
            assertEquals(protocol, tls.engine().getSession().getProtocol());
            if (renegotiate) {
                Peers.await(tls.renegotiate());
            }
            client.writeAndFlush(client.alloc().buffer().writeBytes(new SeededBytes(SEED).at(0, LENGTH)));
            reader.received().get(SECONDS, TimeUnit.SECONDS);
            Peers.await(client.close());
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
            echo.closeNotify.seen.get(SECONDS, TimeUnit.SECONDS);
            Peers.await(echo.channel.closeFuture());
            // The answer to the own close_notify, for which the close has waited.
            Peers.await(tls.sslCloseFuture());
        } finally {
            certificate.delete();
        }
    }

    /** Takes note of the peer's close_notify. */
    private static class CloseNotify extends ChannelInboundHandlerAdapter {

        final CompletableFuture<Void> seen = new CompletableFuture<>();

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslCloseCompletionEvent close) {
                if (close.isSuccess()) {
                    seen.complete(null);
                } else {
                    seen.completeExceptionally(close.cause());
                }
            }
            context.fireUserEventTriggered(event);
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {

        final CloseNotify closeNotify = new CloseNotify();
        volatile Channel channel;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = context.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            closeNotify.userEventTriggered(context, event);
            if (event instanceof SslCloseCompletionEvent) {
                // In TLS 1.3 the peer's close_notify ends one direction only.
                context.close();
            }
        }
    }
}
