// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection over a {@link ScriptedPort}, and what it tells. */
abstract class ConnectionFixture implements ConnectionListener {

    static final int PEER = 0xbeef;
    static final int WINDOW = 16 * 1024;
    static final int MAX_MESSAGE = 4 * 1024;

    final ScriptedPort port;
    final Traffic traffic = Traffic.ofConnection();
    final Connection connection;
    final List<String> told = new ArrayList<>();
    IOException failure;
    boolean noMemory;

    ConnectionFixture() {
        this(false);
    }

    /** @param lossy whether messages can get lost */
    ConnectionFixture(boolean lossy) {
        port = new ScriptedPort(lossy);
        connection = new Connection(port, ScriptedPort.CHANNEL_ID, WINDOW, MAX_MESSAGE, this, this::allocate, traffic);
    }

    ByteBuf allocate(int capacity) {
        if (noMemory) {
            throw new OutOfMemoryError("as the test wants it");
        }
        return port.memory.allocate(capacity);
    }

    @Override
    public void connectionFailed(IOException cause) {
        told.add("failed");
        failure = cause;
    }

    @Override
    public void inputReady() {
        told.add("input");
    }

    @Override
    public void outputReady() {
        told.add("output");
    }

    @Override
    public void outputAcknowledged() {
        told.add("acknowledged");
    }

    @AfterEach
    void everythingIsGivenBack() {
        connection.close();
        port.completeAll();
        port.poll();
        assertFalse(port.isRegistered());
        assertFalse(port.isTracked());
        port.assertEverythingReturned();
    }

    /** The handshake is over. */
    void open() {
        connection.open(PEER, WINDOW, MAX_MESSAGE);
        assertTrue(connection.isOpen());
        assertEquals(List.of(), told);
    }

    void send(int length) {
        ByteBuf memory = allocate(length).writeZero(length);
        if (!connection.outbound().send(TrackedMemory.addressOf(memory), length, memory, length,
                connection.inbound().takeGrantForData())) {
            memory.release();
        }
        connection.settle();
    }

    ByteBuf take(int limit) {
        ByteBuf buffer = connection.read(limit, this::allocate);
        connection.settle();
        return buffer;
    }

    String read(int limit) {
        ByteBuf buffer = take(limit);
        if (buffer == null) {
            return null;
        }
        String text = buffer.toString(StandardCharsets.US_ASCII);
        buffer.release();
        return text;
    }

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    void assertFailed(Class<? extends IOException> type, String message) {
        assertInstanceOf(type, failure);
        assertEquals(message, failure.getMessage());
        assertEquals(1, told.stream().filter("failed"::equals).count());
        assertFalse(connection.isOpen());
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        port.poll();
        assertEquals(1, told.stream().filter("failed"::equals).count(), "told twice");
    }
}
