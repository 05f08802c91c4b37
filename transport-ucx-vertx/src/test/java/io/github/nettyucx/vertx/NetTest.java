// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.ConnectOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.PemKeyCertOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

import static io.github.nettyucx.vertx.VertxOverUcx.await;
import static io.github.nettyucx.vertx.VertxOverUcx.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Vert.x's TCP servers and clients over UCX. */
@Timeout(120)
class NetTest {

    private static final int MIB = 1024 * 1024;
    private static final int LENGTH = 8 * MIB;

    @RegisterExtension
    final VertxOverUcx ucx = new VertxOverUcx();

    private NetServer echo(NetServerOptions options) throws Exception {
        return await(ucx.vertx.createNetServer(options)
                .connectHandler(socket -> socket.pipeTo(socket)).listen(0, "127.0.0.1"));
    }

    /** Completes when so many bytes have come. */
    private static Promise<Buffer> reception(NetSocket socket, int length) {
        Promise<Buffer> all = Promise.promise();
        Buffer received = Buffer.buffer(length);
        socket.exceptionHandler(all::tryFail);
        socket.closeHandler(closed -> all.tryFail("closed after " + received.length()));
        socket.handler(buffer -> {
            received.appendBuffer(buffer);
            if (received.length() >= length) {
                all.tryComplete(received);
            }
        });
        return all;
    }

    @Test
    void echo() throws Exception {
        NetServer server = echo(new NetServerOptions());
        NetSocket socket = await(ucx.client.connect(server.actualPort(), "127.0.0.1"));
        UcxSocketChannel channel = assertInstanceOf(UcxSocketChannel.class,
                ((NetSocketInternal) socket).channelHandlerContext().channel());
        assertTrue(channel.lane().matches("sysv|posix"), channel::lane);
        Promise<Buffer> answer = reception(socket, LENGTH);
        socket.write(bytes(LENGTH));
        assertEquals(bytes(LENGTH), await(answer.future()));
        await(socket.close());
        await(server.close());
    }

    @Test
    void tls() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        NetServer server = echo(new NetServerOptions().setSsl(true).setKeyCertOptions(new PemKeyCertOptions()
                .setCertPath(certificate.certificate().getPath()).setKeyPath(certificate.privateKey().getPath())));
        NetSocket socket = await(ucx.client.connect(new ConnectOptions()
                .setHost("127.0.0.1").setPort(server.actualPort()).setSsl(true).setSslOptions(
                        new ClientSSLOptions().setTrustAll(true).setHostnameVerificationAlgorithm(""))));
        assertTrue(socket.isSsl());
        Promise<Buffer> answer = reception(socket, LENGTH);
        socket.write(bytes(LENGTH));
        assertEquals(bytes(LENGTH), await(answer.future()));
        await(socket.close());
        await(server.close());
        certificate.delete();
    }

    /** A reader that pauses fills the writer's queue; resumed, it gets all. */
    @Test
    void aPausedReaderHoldsUpTheWriter() throws Exception {
        Promise<NetSocket> accepted = Promise.promise();
        NetServer server = await(ucx.vertx.createNetServer().connectHandler(socket -> {
            socket.pause();
            accepted.complete(socket);
        }).listen(0, "127.0.0.1"));
        NetSocket writer = await(ucx.client.connect(server.actualPort(), "127.0.0.1"));
        NetSocket reader = await(accepted.future());
        // Many, as Vert.x counts messages in its queue, and each of another length, so that none can stand for another.
        int pieces = 64;
        Buffer expected = Buffer.buffer();
        for (int i = 0; i < pieces; i++) {
            Buffer piece = bytes(MIB + i);
            expected.appendBuffer(piece);
            writer.write(piece);
        }
        Promise<Buffer> answer = reception(reader, expected.length());
        Promise<Void> drained = Promise.promise();
        // In the writer's thread, as it may otherwise be drained between the question and the handler.
        Promise<Boolean> full = Promise.promise();
        ((NetSocketInternal) writer).channelHandlerContext().executor().execute(() -> {
            full.complete(writer.writeQueueFull());
            writer.drainHandler(drained::complete);
        });
        assertTrue(await(full.future()));
        assertFalse(drained.future().isComplete());
        reader.resume();
        assertEquals(expected, await(answer.future()));
        await(drained.future());
        await(writer.close());
        await(server.close());
    }

    @Test
    void files(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), bytes(LENGTH).getBytes());
        NetServer server = await(ucx.vertx.createNetServer()
                .connectHandler(socket -> socket.sendFile(file.toString())).listen(0, "127.0.0.1"));
        // In the socket's thread, before anything can have come.
        Future<Buffer> received = ucx.client.connect(server.actualPort(), "127.0.0.1")
                .compose(socket -> reception(socket, LENGTH).future().eventually(socket::close));
        assertEquals(bytes(LENGTH), await(received));
        await(server.close());
    }

    @Test
    void nobodyListens() throws Exception {
        NetServer server = echo(new NetServerOptions());
        int port = server.actualPort();
        await(server.close());
        ExecutionException failure = assertThrows(ExecutionException.class,
                () -> await(ucx.client.connect(port, "127.0.0.1")));
        assertInstanceOf(ConnectException.class, failure.getCause());
    }
}
