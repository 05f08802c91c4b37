// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.Checks.require;
import static io.github.nettyucx.examples.Checks.requireEqual;

import io.github.nettyucx.examples.Checks.Check;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Frames of every kind, to a WebSocket that returns them. */
final class WebSocketChecks {
    private static final String TEXT = "naïve 日本語 𝄞";
    private static final int CLOSE_STATUS = 4711;
    private static final int NOT_UTF8 = 1007;
    private static final int AT_A_TIME = 100;

    private interface Talk {
        void with(WebSocketClient socket) throws InterruptedException;
    }

    private final ClientConnections connections;

    /**
     * @param connections {@code null} where only the names of the checks are wanted
     */
    WebSocketChecks(ClientConnections connections) {
        this.connections = connections;
    }

    List<Check> checks() {
        return List.of(
                new Check("WebSocket: text", () -> talk(WebSocketChecks::text)),
                new Check("WebSocket: binary, from empty to 256 KiB", () -> talk(WebSocketChecks::binary)),
                new Check("WebSocket: fragments, and pings between them", () -> talk(WebSocketChecks::fragments)),
                new Check("WebSocket: close", () -> talk(WebSocketChecks::close)),
                new Check("WebSocket: text that is no UTF-8", () -> talk(WebSocketChecks::badText)));
    }

    private void talk(Talk talk) throws InterruptedException {
        try (var socket = WebSocketClient.open(connections)) {
            talk.with(socket);
        }
    }

    private static void text(WebSocketClient socket) throws InterruptedException {
        for (var text : List.of("hello", "", TEXT, TEXT.repeat(5_000))) {
            socket.send(new TextWebSocketFrame(text));
            expect(socket, TextWebSocketFrame.class, true, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void binary(WebSocketClient socket) throws InterruptedException {
        for (var size : new int[] {0, 1, 125, 126, 65_535, 65_536, ServerPipeline.LARGEST_FRAME}) {
            var bytes = new SeededContent("frame").bytes(size);
            socket.send(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(bytes)));
            expect(socket, BinaryWebSocketFrame.class, true, bytes);
        }
        for (var i = 0; i < AT_A_TIME; i++) {
            var bytes = new SeededContent("frame " + i).bytes(i * 100);
            socket.send(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(bytes)));
        }
        for (var i = 0; i < AT_A_TIME; i++) {
            expect(socket, BinaryWebSocketFrame.class, true, new SeededContent("frame " + i).bytes(i * 100));
        }
    }

    /** The text is cut in the middle of its characters, which only the whole of it has to be made of. */
    private static void fragments(WebSocketClient socket) throws InterruptedException {
        var text = TEXT.repeat(1_000).getBytes(StandardCharsets.UTF_8);
        socket.send(new TextWebSocketFrame(false, 0, part(text, 0, 3)));
        socket.send(new PingWebSocketFrame(part(text, 0, 100)));
        socket.send(new ContinuationWebSocketFrame(false, 0, part(text, 3, 20_000)));
        socket.send(new PingWebSocketFrame());
        socket.send(new ContinuationWebSocketFrame(true, 0, part(text, 20_000, text.length)));
        expect(socket, TextWebSocketFrame.class, false, bytes(part(text, 0, 3)));
        expect(socket, PongWebSocketFrame.class, true, bytes(part(text, 0, 100)));
        expect(socket, ContinuationWebSocketFrame.class, false, bytes(part(text, 3, 20_000)));
        expect(socket, PongWebSocketFrame.class, true, new byte[0]);
        expect(socket, ContinuationWebSocketFrame.class, true, bytes(part(text, 20_000, text.length)));
    }

    private static void close(WebSocketClient socket) throws InterruptedException {
        socket.send(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(new byte[1000])));
        socket.send(new CloseWebSocketFrame(CLOSE_STATUS, "done"));
        expect(socket, BinaryWebSocketFrame.class, true, new byte[1000]);
        expectClose(socket, CLOSE_STATUS);
        socket.awaitEnd();
    }

    private static void badText(WebSocketClient socket) throws InterruptedException {
        socket.send(new TextWebSocketFrame(Unpooled.wrappedBuffer(new byte[] {'a', (byte) 0xff})));
        expectClose(socket, NOT_UTF8);
        socket.awaitEnd();
    }

    private static void expectClose(WebSocketClient socket, int status) throws InterruptedException {
        var frame = socket.next();
        try {
            require(frame instanceof CloseWebSocketFrame, "expected a close, found " + frame);
            requireEqual(status, ((CloseWebSocketFrame) frame).statusCode(), "status of the close");
        } finally {
            frame.release();
        }
    }

    private static void expect(WebSocketClient socket, Class<? extends WebSocketFrame> kind, boolean last, byte[] bytes)
            throws InterruptedException {
        var frame = socket.next();
        try {
            require(kind.isInstance(frame), "expected a " + kind.getSimpleName() + ", found " + frame);
            requireEqual(last, frame.isFinalFragment(), "whether this is the last fragment");
            require(Unpooled.wrappedBuffer(bytes).equals(frame.content()), "other bytes came back in " + frame);
        } finally {
            frame.release();
        }
    }

    private static ByteBuf part(byte[] bytes, int begin, int end) {
        return Unpooled.wrappedBuffer(bytes, begin, end - begin);
    }

    private static byte[] bytes(ByteBuf buffer) {
        var bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }
}
