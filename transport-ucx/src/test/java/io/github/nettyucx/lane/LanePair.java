// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.Counters;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.WorkerCounter;
import io.netty.buffer.ByteBuf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The two sockets of a TCP connection over loopback, with a lane on one of them or on both, and the turn of their loop. */
final class LanePair implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    final ProgressEngine engine;
    /** The side that has connected, or {@code null} if it is not ours. */
    final KernelSocket near;
    /** The side that was accepted. */
    final KernelSocket far;
    private final Epoll epoll;
    private final LaneEnd[] ends = new LaneEnd[2];

    LanePair() throws IOException {
        this(0, 0);
    }

    /** @param buffers in bytes, of each direction on each side; 0: as the system has them */
    LanePair(int sendBuffer, int receiveBuffer) throws IOException {
        engine = newEngine();
        epoll = new Epoll();
        try (KernelSocket listening = KernelSocket.stream(false)) {
            if (receiveBuffer > 0) {
                listening.set(SocketSetting.RECEIVE_BUFFER, receiveBuffer);
            }
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listening.listen(1);
            near = KernelSocket.stream(false);
            if (receiveBuffer > 0) {
                near.set(SocketSetting.RECEIVE_BUFFER, receiveBuffer);
            }
            near.connect(listening.localAddress());
            KernelSocket accepted = listening.accept();
            while (accepted == null) {
                Thread.onSpinWait();
                accepted = listening.accept();
            }
            far = accepted;
            near.finishConnect();
        }
        for (KernelSocket socket : new KernelSocket[] {near, far}) {
            socket.set(SocketSetting.NO_DELAY, 1);
            if (sendBuffer > 0) {
                socket.set(SocketSetting.SEND_BUFFER, sendBuffer);
            }
        }
    }

    /** With somebody else's socket for the near one. */
    LanePair(KernelSocket far) throws IOException {
        engine = newEngine();
        epoll = new Epoll();
        near = null;
        this.far = far;
    }

    private static ProgressEngine newEngine() throws IOException {
        return new ProgressEngine("test", new Counters<>(WorkerCounter.class));
    }

    LaneEnd nearLane() throws IOException {
        return lane(0, near, null);
    }

    LaneEnd farLane() throws IOException {
        return lane(1, far, null);
    }

    LaneEnd farLane(ByteBuf firstBytes) throws IOException {
        return lane(1, far, firstBytes);
    }

    private LaneEnd lane(int number, KernelSocket socket, ByteBuf firstBytes) throws IOException {
        // As the handshake leaves it: watched for some time, and its events taken by somebody else.
        epoll.add(socket.fd(), SocketLane.INTEREST, number);
        epoll.poll();
        Traffic traffic = Traffic.ofConnection();
        LaneEnd end = new LaneEnd(socket, new SocketLane(socket, engine, traffic, firstBytes), traffic);
        ends[number] = end;
        end.lane.listener(end);
        return end;
    }

    /** One turn of the loop; waits for a millisecond if there is nothing to do. */
    void turn() throws IOException {
        int events = epoll.await(TimeUnit.MILLISECONDS.toNanos(1));
        for (int i = 0; i < events; i++) {
            LaneEnd end = ends[(int) epoll.key(i)];
            if (end != null) {
                end.lane.socketReady(epoll.events(i));
            }
        }
        engine.poll();
    }

    /** Turns until it is so. */
    void await(String what, BooleanSupplier condition) throws IOException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new AssertionError("waited in vain: " + what);
            }
            turn();
        }
    }

    /**
     * Waits, without a turn and whatever a lane has been told, until one of these events has come to the far side. Loopback
     * is not synchronous: a busy kernel leaves packets to a thread of its own.
     */
    void arrived(int events) throws IOException {
        try (Epoll own = new Epoll()) {
            own.add(far.fd(), events, 0);
            if (own.await(PATIENCE_NANOS) == 0) {
                throw new AssertionError("nothing has come");
            }
        }
    }

    /** Turns so long that what does not come then does not come at all, over loopback. */
    void settle() throws IOException {
        for (int i = 0; i < 20; i++) {
            turn();
        }
    }

    @Override
    public void close() throws IOException {
        for (LaneEnd end : ends) {
            if (end != null) {
                end.close();
            }
        }
        if (near != null) {
            near.close();
        }
        far.close();
        epoll.close();
        engine.close();
    }
}
