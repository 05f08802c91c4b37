// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A program that speaks TCP, and has a protocol of its own. */
public final class RawPeer implements AutoCloseable {

    private static final int SECONDS = 15;

    private ServerSocket listener;
    private Socket socket;

    public void connect(InetSocketAddress server) throws IOException {
        socket = new Socket(server.getAddress(), server.getPort());
        socket.setTcpNoDelay(true);
    }

    public InetSocketAddress listen() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listener.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    public void accept() throws IOException {
        socket = listener.accept();
        socket.setTcpNoDelay(true);
    }

    public void say(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** What the other side says, all of it, up to so many bytes. */
    public byte[] hear(int length) throws IOException {
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        return socket.getInputStream().readNBytes(length);
    }

    /** Ends the connection with a reset. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** The same, and waits until the kernel has told the other side's socket, which is on this host. */
    public void resetAndAwait() throws Exception {
        int theirs = socket.getPort();
        int own = socket.getLocalPort();
        if (!isEstablished(theirs, own)) {
            throw new AssertionError("the other side's socket is not in the kernel's tables");
        }
        reset();
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the other side's socket is established",
                () -> !isEstablished(theirs, own));
    }

    private static boolean isEstablished(int local, int remote) throws IOException {
        return TcpTable.rows().stream()
                .anyMatch(row -> row.established() && row.localPort() == local && row.remotePort() == remote);
    }

    /** Until the other side has closed the connection. */
    public void awaitEnd() throws IOException {
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        try {
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (SocketException e) {
            // A reset is an end as well.
        }
    }

    /** Waits until a condition is met. */
    public void until(BooleanSupplier condition, String otherwise) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> otherwise, condition::getAsBoolean);
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
        if (listener != null) {
            listener.close();
        }
    }
}
