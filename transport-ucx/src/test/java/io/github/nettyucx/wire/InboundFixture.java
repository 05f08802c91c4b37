// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The receiving direction of a connection over a {@link ScriptedPort}. */
abstract class InboundFixture {

    static final int WINDOW = 16 * 1024;
    static final int MAX_MESSAGE = 8 * 1024;
    static final boolean READING = true;
    static final boolean PAUSED = false;

    final ScriptedPort port = new ScriptedPort();
    final Inbound inbound = new Inbound(port, Traffic.ofConnection(), WINDOW, MAX_MESSAGE);
    final List<ByteBuf> stashes = new ArrayList<>();
    boolean noMemory;
    /** The application's allocator cannot be run. */
    boolean broken;
    /** What a reader's buffer has room for beyond the message that it is made for, in bytes. */
    int roomForMore;
    /** Messages that have come. */
    int arrived;

    ByteBuf stash(int capacity) {
        if (noMemory) {
            throw new OutOfMemoryError("as the test wants it");
        }
        if (broken) {
            throw new LinkageError("as the test wants it");
        }
        ByteBuf buffer = port.memory.allocate(capacity);
        stashes.add(buffer);
        return buffer;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    long arrives(String text, boolean wanted) throws ProtocolException {
        long message = port.message(bytes(text));
        inbound.data(Tag.ofData(1, arrived++, 0), message, text.length(), wanted, this::stash);
        return message;
    }

    /** The peer's FIN. */
    void finished(boolean peerReads) throws ProtocolException {
        inbound.finished(Tag.ofFin(1, arrived, !peerReads));
    }

    void arrive(int count, int length, boolean wanted) throws ProtocolException {
        for (int i = 0; i < count; i++) {
            arrives("x".repeat(length), wanted);
        }
    }

    /** @return what can be read at once, or {@code null} if that is nothing */
    String read(int limit) {
        ByteBuf buffer = inbound.read(limit, length -> stash(length + roomForMore));
        if (buffer == null) {
            return null;
        }
        String text = buffer.toString(StandardCharsets.US_ASCII);
        buffer.release();
        return text;
    }

    String readAll() {
        StringBuilder text = new StringBuilder();
        for (String part = read(WINDOW); part != null; part = read(WINDOW)) {
            text.append(part);
        }
        return text.toString();
    }

    @AfterEach
    void everythingIsGivenBack() {
        inbound.discard();
        port.completeAll();
        port.assertEverythingReturned();
    }
}
