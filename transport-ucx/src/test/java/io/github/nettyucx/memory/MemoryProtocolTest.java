// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.ProtocolPage;
import io.github.nettyucx.wire.Tag;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.ImmediateEventExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The messages about memory, without a network, and what docs/wire-protocol.md says of them. */
class MemoryProtocolTest extends MemoryFixture {

    // ------------------------------------------------------------------------------------------- the owner

    @Test
    void theOwnerChecksWhatAPeerAsksFor() {
        start();
        openAsPeer(UcxMemoryRight.READ);
        long[][] refused = {
            {MemoryFrame.GET, 0, LENGTH + 1, 5}, {MemoryFrame.GET, -1, 1, 5}, {MemoryFrame.GET, Long.MAX_VALUE, 8, 5},
            {MemoryFrame.GET, 1, Long.MAX_VALUE, 5}, {MemoryFrame.GET, 0, -1, 5}, {MemoryFrame.ADD, 0, 8, 6},
            {MemoryFrame.SWAP, 0, 8, 6}};
        for (long[] one : refused) {
            deliver((int) one[0], one[1], one[2]);
            assertEquals(one[3], port.sent.getLast().bytes()[0], () -> Arrays.toString(one));
            assertEquals(Tag.MEMORY_ANSWER, port.sent.getLast().type());
        }
        port.deliver(Tag.MEMORY_REQUEST, 1, request(MemoryFrame.PUT, 0, 4, 0, 0, 4));
        assertEquals(6, port.sent.getLast().bytes()[0]);
        deliver(MemoryFrame.PUT, 0, 1000);
        port.deliver(Tag.MEMORY_PUT, 1, new byte[1000]);
        assertEquals(6, port.sent.getLast().bytes()[0]);
        openAsPeer(UcxMemoryRight.ATOMIC);
        deliver(MemoryFrame.ADD, 4, 8);
        assertEquals(7, port.sent.getLast().bytes()[0]);
        deliver(MemoryFrame.ADD, LENGTH - 7, 8);
        assertEquals(5, port.sent.getLast().bytes()[0]);
        handle += 1;
        deliver(MemoryFrame.ADD, 0, 8);
        assertEquals(3, port.sent.getLast().bytes()[0]);
        assertNull(failure);
        assertArrayEquals(new byte[LENGTH], memory.segment().toArray(ValueLayout.JAVA_BYTE));
    }

    /** A peer that takes nothing for a while must not have its connection ended by what this side tells it. */
    @Test
    void aPeerIsToldOnceThatMemoryIsRevoked() {
        start();
        openAsPeer();
        memory.revoke();
        memory.revoke();
        memory.close();
        assertEquals(List.of(Tag.MEMORY_REVOKED), port.sent.stream().map(FakePort.Sent::type).toList());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatComesAfterAPutWaitsForItsBytes(boolean deferring) {
        start();
        openAsPeer();
        port.deferring = deferring;
        byte[] bytes = new byte[1000];
        Arrays.fill(bytes, (byte) 5);
        deliver(MemoryFrame.PUT, 0, bytes.length);
        port.deliver(Tag.MEMORY_PUT, 1, bytes);
        byte[] notifying = request(MemoryFrame.PUT, 0, 0, 4711, 0, 0);
        notifying[1] = MemoryFrame.NOTIFYING;
        port.deliver(Tag.MEMORY_REQUEST, 2, notifying);
        port.deliver(Tag.MEMORY_REQUEST, 3, request(MemoryFrame.GET, 990, 10, 0, 0, 0));
        if (deferring) {
            exchange.deliver(notifications::add);
            assertEquals(List.of(), notifications);
            assertEquals(List.of(), port.sent);
            // The requests, and then the bytes.
            for (int i = 0; i < 2; i++) {
                port.completeAll();
                port.turn();
            }
        }
        exchange.deliver(notifications::add);
        assertEquals(List.of(new UcxMemoryNotification(memory, 4711, 0, 0)), notifications);
        assertEquals(List.of(1, 2, 3), port.sent.stream().map(FakePort.Sent::value).toList());
        assertArrayEquals(Arrays.copyOf(bytes, 10), port.sent.getLast().bytes());
    }

    @Test
    void memoryStaysUntilThePutThatIsUnderWayIsDone() {
        start();
        openAsPeer();
        deliver(MemoryFrame.PUT, 0, 1000);
        port.deferring = true;
        port.deliver(Tag.MEMORY_PUT, 1, new byte[1000]);
        memory.revoke();
        assertFalse(memory.memory().gone().isDone());
        assertEquals(Tag.MEMORY_REVOKED, port.sent.getLast().type());
        assertEquals(handle, port.sent.getLast().value());
        port.completeAll();
        port.turn();
        assertTrue(memory.memory().gone().isDone());
        // It had begun before.
        assertEquals(Tag.MEMORY_ANSWER, port.sent.getLast().type());
        assertEquals(0, port.sent.getLast().bytes().length);
        port.deferring = false;
        deliver(MemoryFrame.GET, 0, 1);
        assertEquals(3, port.sent.getLast().bytes()[0]);
    }

    @Test
    void memoryStaysUntilAnOperationOfAChannelThatIsGoneIsDone() {
        start();
        openAsPeer();
        deliver(MemoryFrame.PUT, 0, 1000);
        port.deferring = true;
        port.deliver(Tag.MEMORY_PUT, 1, new byte[1000]);
        connection.peerGone(new IOException("gone"));
        memory.revoke();
        assertFalse(memory.memory().gone().isDone());
        port.completeAll();
        assertTrue(memory.memory().gone().isDone());
    }

    @Test
    void whatComesBeforeTheHandshakeIsOverIsAnsweredThen() {
        deliverOpen(memory.exportKey());
        assertEquals(List.of(), port.sent);
        start();
        assertEquals(0, port.sent.getLast().bytes()[0]);
        assertEquals(77, port.sent.getLast().value());
    }

    @Test
    void nobodyCanHaveMuchKeptBeforeTheHandshakeIsOver() {
        for (int i = 0; i < MemoryFrame.MAX_UNTAKEN; i++) {
            deliverOpen(memory.exportKey());
        }
        assertNull(failure);
        deliverOpen(memory.exportKey());
        assertInstanceOf(ProtocolException.class, failure);
        assertEquals(List.of(), port.sent);
    }

    /** The peer's handshake is over sooner than this side's, and its first messages are faster than the handshake's last. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPeerMayOpenAsManyKeysAsItLikesBeforeTheHandshakeIsOver(boolean deferring) {
        port.deferring = deferring;
        for (int i = 0; i < MemoryFrame.MAX_OPENINGS; i++) {
            deliverOpen(memory.exportKey());
        }
        // UCX keeps none of them: each occupies a receive segment of its own.
        assertEquals(0, port.unreceived());
        port.deferring = false;
        start();
        port.completeAll();
        port.turn();
        assertNull(failure);
        assertEquals(MemoryFrame.MAX_OPENINGS, port.sent.size());
        assertTrue(port.sent.stream().allMatch(sent -> sent.type() == Tag.MEMORY_ANSWER && sent.bytes()[0] == 0));
    }

    // ------------------------------------------------------------------------------------------- the other

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void allThatIsUnderWayFailsWhenTheConnectionEnds(boolean deferring) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.deferring = deferring;
        List<Throwable> causes = new ArrayList<>();
        UcxCompletion completion = (id, value, cause) -> causes.add(cause);
        ByteBuf source = Unpooled.directBuffer(1000).writeZero(1000);
        ByteBuf target = Unpooled.directBuffer(1000);
        remote.put(0, source.retainedSlice(), completion, 0);
        remote.put(0, source.retainedSlice(0, 10), completion, 0);
        remote.get(0, target, 0, 1000, completion, 0);
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), new byte[1000]);
        remote.get(0, target, 0, 500, completion, 0);
        remote.fetchAndAdd(0, 1, completion, 0);
        remote.compareAndSwap(0, 1, 1, completion, 0);
        remote.flush(completion, 0);
        IOException gone = new IOException("gone");
        connection.peerGone(gone);
        exchange.deliver(notifications::add);
        assertEquals(7, causes.size());
        assertEquals(deferring ? 7 : 6, causes.stream().filter(gone::equals).count());
        remote.put(0, source.retainedSlice(), completion, 0);
        assertEquals(gone, causes.getLast());
        if (deferring) {
            assertTrue(source.refCnt() > 1, "UCX still reads it");
            assertTrue(target.refCnt() > 1, "UCX still writes it");
        }
        port.completeAll();
        assertEquals(1, source.refCnt());
        assertEquals(1, target.refCnt());
        source.release();
        target.release();
    }

    // ------------------------------------------------------------------------------------------- the page

    @Test
    void thePageTellsTheLimits() throws IOException {
        Map<String, String> limits = ProtocolPage.table("limit", "value", "meaning").stream()
                .filter(row -> !row.get(2).contains("HELLO"))
                .collect(Collectors.toMap(row -> row.get(0), row -> row.get(1), (one, other) -> other));
        assertEquals(String.valueOf(MemoryFrame.MAX_LENGTH), limits.get("MAX_LENGTH"));
        assertEquals(String.valueOf(MemoryFrame.MAX_INLINE), limits.get("MAX_INLINE"));
        assertEquals(String.valueOf(MemoryFrame.MAX_OPERATIONS), limits.get("MAX_OPERATIONS"));
        assertEquals(String.valueOf(MemoryFrame.MAX_UNTAKEN), limits.get("MAX_UNTAKEN"));
        assertEquals(String.valueOf(MemoryFrame.MAX_OPENINGS), limits.get("MAX_OPENINGS"));
        assertEquals(String.valueOf(MemoryFrame.MAX_KEPT), limits.get("MAX_KEPT"));
    }

    @Test
    void thePageTellsTheReasons() throws IOException {
        assertEquals(Stream.of(UcxMemoryException.Reason.values())
                .map(reason -> List.of(String.valueOf(reason.code()), reason.name())).toList(),
                ProtocolPage.table("refusal", "reason"));
    }

    static Stream<List<String>> violations() throws IOException {
        return ProtocolPage.table("what the peer did", "message").stream();
    }

    @ParameterizedTest
    @MethodSource("violations")
    void thePageTellsWhatIsSaidOfAViolation(List<String> row) {
        start();
        violate(row.get(0));
        assertInstanceOf(ProtocolException.class, failure);
        String pattern = Pattern.quote(row.get(1)).replaceAll("\\bN\\b", "\\\\E-?[0-9]+\\\\Q");
        assertTrue(failure.getMessage().matches(pattern), failure.getMessage());
    }

    @ParameterizedTest
    @MethodSource("violations")
    void aMessageThatComesInPiecesCanBeAViolationAsWell(List<String> row) {
        start();
        port.deferring = true;
        violate(row.get(0));
        for (int i = 0; i < 3; i++) {
            port.completeAll();
            port.turn();
        }
        assertInstanceOf(ProtocolException.class, failure);
    }

    private void violate(String violation) {
        boolean deferring = port.deferring;
        port.deferring = false;
        openAsPeer();
        UcxRemoteMemory remote = openAsAsker();
        port.deferring = deferring;
        ByteBuf target = Unpooled.directBuffer(8, 8);
        switch (violation) {
            case "a request too short or too long" -> port.deliver(Tag.MEMORY_REQUEST, 1, new byte[257]);
            case "a request of a kind that does not exist" -> port.deliver(Tag.MEMORY_REQUEST, 1, new byte[40]);
            case "a request of another length than its kind has" ->
                    port.deliver(Tag.MEMORY_REQUEST, 1, request(MemoryFrame.PUT, 0, 5, 0, 0, 4));
            case "a put of less than nothing" -> deliver(MemoryFrame.PUT, 0, -1);
            case "a request where the bytes of a put have to be" -> {
                deliver(MemoryFrame.PUT, 0, 1000);
                deliver(MemoryFrame.GET, 0, 1);
            }
            case "more requests than answers that it takes" -> {
                port.deferring = true;
                deliverRequests(MemoryFrame.MAX_UNTAKEN + 1);
            }
            case "bytes of a put without a request" -> {
                deliver(MemoryFrame.PUT, 0, 1000);
                port.deliver(Tag.MEMORY_PUT, 2, new byte[1000]);
            }
            case "another number of bytes than the put's" -> {
                deliver(MemoryFrame.PUT, 0, 1000);
                port.deliver(Tag.MEMORY_PUT, 1, new byte[1001]);
            }
            case "an answer to nothing" -> port.deliver(Tag.MEMORY_ANSWER, 12345);
            case "an answer too short or too long" -> {
                remote.fetchAndAdd(0, 1, null, 0);
                port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), new byte[15]);
            }
            case "a refusal for a reason that does not exist" -> {
                remote.fetchAndAdd(0, 1, null, 0);
                port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), ByteBuffer.allocate(16).put((byte) 99).array());
            }
            case "an answer to a get that has no bytes" -> {
                remote.get(0, target, 0, 8, null, 0);
                port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value());
            }
            case "an answer to a put that has a value" -> {
                remote.put(0, Unpooled.copyLong(1), null, 0);
                port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), new byte[16]);
            }
            case "other bytes than were asked for" -> {
                remote.get(0, target, 0, 8, null, 0);
                port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), new byte[9]);
            }
            case "an opening that cannot be" -> {
                exchange.access().open(memory.exportKey(), ImmediateEventExecutor.INSTANCE,
                        ImmediateEventExecutor.INSTANCE.newPromise());
                // Number 3 is open already.
                port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(),
                        ByteBuffer.allocate(24).put(1, (byte) 7).putInt(4, 3).putLong(8, LENGTH).array());
            }
            case "a revocation with bytes" -> port.deliver(Tag.MEMORY_REVOKED, 1, new byte[10]);
            default -> throw new AssertionError("no test of: " + violation);
        }
        target.release();
    }
}
