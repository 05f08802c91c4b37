// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The first bytes that UCX sends when it connects, and what somebody might make of them. */
public final class ConnectBytes {

    /** Length and status of the message. */
    private static final int ENVELOPE = 16;
    private static final int SECONDS = 15;

    private ConnectBytes() {
    }

    /** What a client of this transport sends. */
    public static byte[] capture(Peers peers) throws Exception {
        try (ServerSocket listening = new ServerSocket()) {
            listening.bind(Peers.loopback(0));
            CompletableFuture<byte[]> bytes = CompletableFuture.supplyAsync(() -> {
                try (Socket socket = listening.accept()) {
                    byte[] envelope = socket.getInputStream().readNBytes(ENVELOPE);
                    int length = ByteBuffer.wrap(envelope).order(ByteOrder.nativeOrder()).getInt();
                    byte[] all = Arrays.copyOf(envelope, ENVELOPE + length);
                    socket.getInputStream().readNBytes(all, ENVELOPE, length);
                    return all;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            // Fails, for nobody answers.
            Peers.awaitFailure(peers.client(new Inbox()).connect((InetSocketAddress) listening.getLocalSocketAddress()));
            return bytes.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** With an envelope that says how long it is. */
    static byte[] enveloped(byte[] message) {
        return ByteBuffer.allocate(ENVELOPE + message.length).order(ByteOrder.nativeOrder())
                .putLong(message.length).putLong(0).put(message).array();
    }

    /** The beginning of the real one, as if that were all. */
    static byte[] shortened(byte[] real, SplittableRandom random) {
        return enveloped(Arrays.copyOfRange(real, ENVELOPE, random.nextInt(ENVELOPE, real.length)));
    }

    /** The real one with some bits turned over. */
    public static byte[] damaged(byte[] real, SplittableRandom random) {
        byte[] bytes = real.clone();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            bytes[random.nextInt(ENVELOPE, bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }
}
