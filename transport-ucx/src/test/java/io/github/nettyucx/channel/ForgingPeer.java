// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpStream;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A client that knows the protocol and does not keep to it. It makes one connection after the other, on one worker and
 * on the test's thread.
 */
final class ForgingPeer implements AutoCloseable {

    static final int DATA = 1;
    static final int CREDIT = 2;
    static final int FIN = 3;
    static final int FIN_ACK = 4;

    private static final long MAGIC = 0x4e65747479554358L;
    private static final int HELLO_LENGTH = 64;
    private static final int CHANNEL_ID_OFFSET = 16;
    private static final int WINDOW = 1024 * 1024;
    private static final int MEMORY = 1024 * 1024;
    private static final long SECONDS = 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment out = arena.allocate(MEMORY, Long.BYTES);
    private final MemorySegment in = arena.allocate(HELLO_LENGTH, Long.BYTES);
    private final MemorySegment lengthOut = arena.allocate(ValueLayout.JAVA_LONG);
    private final MemorySegment tagInfo = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES);
    private final long plain = UcpRequestParam.allocate(arena);
    private final long waitAll = UcpRequestParam.allocate(
            arena, UcpRequestParam.OP_ATTR_FIELD_FLAGS, UcpStream.RECEIVE_FLAG_WAIT_ALL);
    private final UcpContext context;
    private final UcpWorker worker;
    /** Sends that wait for a server that does not take them any more. */
    private final List<Long> pending = new ArrayList<>();
    private UcpEndpoint endpoint;
    private volatile int failure;
    private int serversId;

    ForgingPeer() throws UcxException {
        UcxLibrary.load();
        context = UcpContext.create(new UcpContextParams().features(UcpFeature.TAG, UcpFeature.STREAM));
        worker = context.createWorker(new UcpWorkerParams());
    }

    void connect(InetSocketAddress server) throws UcxException {
        failure = UcsStatus.OK;
        endpoint = worker.connect(server, null, false, (failed, status) -> failure = status);
        long flush = endpoint.flushNbx(plain);
        pending.add(flush);
        until(() -> isDone(flush), "the connect does not end");
    }

    private static boolean isDone(long statusPointer) {
        return !UcsStatus.isRequest(statusPointer) || UcpRequest.checkStatus(statusPointer) != UcsStatus.INPROGRESS;
    }

    /** Says HELLO, and learns which channel the server has for this connection. */
    void greet() {
        sayHello();
        hearHello();
    }

    void sayHello() {
        say(ByteBuffer.allocate(HELLO_LENGTH).putLong(MAGIC).putShort((short) 1).putShort((short) HELLO_LENGTH)
                .putInt(Ucx.packedVersion()).putInt(0x12345678).putInt(WINDOW).putInt(WINDOW / 4).array());
    }

    void hearHello() {
        long receive = UcpStream.receiveNbx(endpoint.address(), in.address(), HELLO_LENGTH, lengthOut.address(), waitAll);
        pending.add(receive);
        until(() -> isDone(receive), "no HELLO comes");
        serversId = in.asByteBuffer().getInt(CHANNEL_ID_OFFSET);
    }

    /** On the stream, where HELLO is expected. */
    void say(byte[] bytes) {
        MemorySegment.copy(bytes, 0, out, ValueLayout.JAVA_BYTE, 0, bytes.length);
        long send = UcpStream.sendNbx(endpoint.address(), out.address(), bytes.length, plain);
        pending.add(send);
        until(() -> isDone(send), "cannot say what is to be said");
    }

    /** A message to the channel that the server has for this connection. */
    void send(int type, int value, int length) {
        send(serversId, type, value, length);
    }

    void send(int channelId, int type, int value, int length) {
        if (failure == UcsStatus.OK) {
            long tag = (long) channelId << 32 | (long) type << 28 | value;
            pending.add(UcpTag.sendNbx(endpoint.address(), out.address(), length, tag, plain));
            worker.progress();
        }
    }

    void awaitEnd() {
        until(() -> failure != UcsStatus.OK, "the server does not close the connection");
    }

    /** Without a word. */
    void hangUp() {
        long close = endpoint.closeNbx(true);
        pending.add(close);
        until(() -> pending.stream().allMatch(ForgingPeer::isDone), "what was under way does not end");
        pending.stream().filter(UcsStatus::isRequest).forEach(UcpRequest::free);
        pending.clear();
        endpoint = null;
        while (takeMessage()) {
            worker.progress();
        }
    }

    private boolean takeMessage() {
        long message = UcpTag.probeNb(worker.address(), 0, 0, true, tagInfo.address());
        if (message == 0) {
            return false;
        }
        long receive = UcpTag.messageReceiveNbx(worker.address(), out.address(), 0, message, plain);
        until(() -> isDone(receive), "a message cannot be thrown away");
        if (UcsStatus.isRequest(receive)) {
            UcpRequest.free(receive);
        }
        return true;
    }

    void until(BooleanSupplier condition, String otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(SECONDS)) {
                throw new AssertionError("after " + SECONDS + " s: " + otherwise);
            }
            if (worker.progress() == 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() {
        if (endpoint != null) {
            hangUp();
        }
        worker.close();
        context.close();
        arena.close();
    }
}
