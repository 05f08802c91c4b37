// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Frames byte by byte, as another implementation sees them. */
class FramesTest {

    private static final String PROOF = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf";
    private static final String NONCE = "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f";

    private static final Hello HELLO = new Hello(0x01160003,
            new Party(new ProcessIdentity(0x1111111111111111L, 0x2222222222222222L, 0x3333333333333333L,
                    0x4444444444444444L, 0x5555555555555555L), 0x6666666666666666L),
            LaneKind.SHM.bit() | LaneKind.SOCKET.bit(), true, true, 0xcafebabe, 0x00100000, 0x00040000,
            HandshakeFixture.hex(NONCE), new InetSocketAddress("10.1.2.3", 0x9c40),
            new InetSocketAddress("2001:db8::4", 0x1f90));

    /** All that comes after magic number, version and length. */
    private static final String FIELDS = """
            01160003
            1111111111111111 2222222222222222 3333333333333333 4444444444444444 5555555555555555 6666666666666666
            0009 0003
            cafebabe 00100000 00040000
            """ + NONCE + """
            00000000000000000000ffff0a010203 9c40
            20010db8000000000000000000000004 1f90
            """ + "00".repeat(108);

    @Test
    void hello() throws HandshakeException {
        String literal = "4e65747479554358 0002 0100" + FIELDS;
        ByteBuf out = Unpooled.buffer();
        HELLO.encode(out, Hello.LENGTH);
        assertBytes(literal, out);

        ByteBuf in = in(literal);
        assertTrue(Hello.isWhole(in, Side.CLIENT, "HELLO", Hello.LENGTH));
        assertSame(HELLO, Hello.decode(in, Side.CLIENT));
        assertFalse(in.isReadable());
    }

    @Test
    void answer() throws HandshakeException {
        String literal = "4e65747479554358 0002 0130" + FIELDS + "01 00000000000000 0102030405060708";
        Answer answer = new Answer(HELLO, LaneKind.SHM, 0x0102030405060708L);
        ByteBuf out = Unpooled.buffer();
        answer.encode(out);
        assertBytes(literal, out);
        assertEquals(Answer.LENGTH, HandshakeFixture.hex(literal).length + Proofs.LENGTH);

        Answer read = Answer.decode(in(literal));
        assertSame(HELLO, read.hello());
        assertEquals(LaneKind.SHM, read.lane());
        assertEquals(0x0102030405060708L, read.link());
    }

    @Test
    void offerOfANewLink() throws HandshakeException {
        String literal = "01 00 003b" + PROOF + "01 01 0000 0102030405060708 0000000000000000 616263";
        assertBytes(literal, new Offer(proof(), LaneKind.SHM, 0x0102030405060708L, 0, new byte[] {0x61, 0x62, 0x63}).encode());

        Offer read = Offer.decode(content(literal));
        assertTrue(read.isNew());
        assertEquals(LaneKind.SHM, read.lane());
        assertArrayEquals(proof(), read.proof());
        assertEquals(0x0102030405060708L, read.client());
        assertArrayEquals(new byte[] {0x61, 0x62, 0x63}, read.address());
    }

    @Test
    void offerOfALinkThatExists() throws HandshakeException {
        String literal = "01 00 0038" + PROOF + "02 02 0000 0102030405060708 1112131415161718";
        assertBytes(literal, new Offer(proof(), LaneKind.RDMA, 0x0102030405060708L, 0x1112131415161718L, null).encode());

        Offer read = Offer.decode(content(literal));
        assertFalse(read.isNew());
        assertEquals(LaneKind.RDMA, read.lane());
        assertEquals(0x0102030405060708L, read.client());
        assertEquals(0x1112131415161718L, read.server());
    }

    @Test
    void halfOfANewLink() throws HandshakeException {
        String literal = "02 00 0013 01 000000 1112131415161718 646566";
        assertBytes(literal, Half.ok(0x1112131415161718L, new byte[] {0x64, 0x65, 0x66}).encode());

        Half read = Half.decode(content(literal), new Offer(proof(), LaneKind.SHM, 1, 0, new byte[1]));
        assertEquals(Half.Status.OK, read.status());
        assertEquals(0x1112131415161718L, read.server());
        assertArrayEquals(new byte[] {0x64, 0x65, 0x66}, read.address());
    }

    @Test
    void halfOfALinkThatExists() throws HandshakeException {
        String literal = "02 00 0010 01 000000 1112131415161718";
        assertBytes(literal, Half.ok(0x1112131415161718L, null).encode());
        Half read = Half.decode(content(literal), new Offer(proof(), LaneKind.SHM, 1, 0x1112131415161718L, null));
        assertEquals(Half.Status.OK, read.status());
        assertNull(read.address());
    }

    @Test
    void halfThatIsStale() throws HandshakeException {
        String literal = "02 00 0010 02 000000 0000000000000000";
        assertBytes(literal, Half.stale().encode());
        assertEquals(Half.Status.STALE, Half.decode(content(literal), new Offer(proof(), LaneKind.SHM, 1, 2, null)).status());
    }

    @Test
    void halfThatFailed() throws HandshakeException {
        String literal = "02 00 0014 03 000000 0000000000000000 6e6f7065";
        assertBytes(literal, Half.failed("nope").encode());
        Half read = Half.decode(content(literal), new Offer(proof(), LaneKind.SHM, 1, 0, new byte[1]));
        assertEquals(Half.Status.FAILED, read.status());
        assertEquals("nope", read.text());
    }

    @Test
    void goWithALink() throws HandshakeException {
        String literal = "03 00 0038" + PROOF + "01 000000 0102030405060708 1112131415161718";
        assertBytes(literal, new Go(proof(), LaneKind.SHM, 0x0102030405060708L, 0x1112131415161718L, "").encode());

        Go read = Go.decode(content(literal), LaneKind.SHM);
        assertArrayEquals(proof(), read.proof());
        assertEquals(LaneKind.SHM, read.lane());
        assertEquals(0x0102030405060708L, read.client());
        assertEquals(0x1112131415161718L, read.server());
    }

    @Test
    void goOnTheSocket() throws HandshakeException {
        String literal = "03 00 003b" + PROOF + "04 000000 0000000000000000 0000000000000000 776879";
        assertBytes(literal, new Go(proof(), LaneKind.SOCKET, 0, 0, "why").encode());
        Go read = Go.decode(content(literal), LaneKind.SHM);
        assertEquals(LaneKind.SOCKET, read.lane());
        assertEquals("why", read.reason());
    }

    @Test
    void goWithALinkOfAnotherLane() throws HandshakeException {
        String literal = "03 00 003b" + PROOF + "02 000000 0102030405060708 1112131415161718 776879";
        assertBytes(literal, new Go(proof(), LaneKind.RDMA, 0x0102030405060708L, 0x1112131415161718L, "why").encode());
        Go read = Go.decode(content(literal), LaneKind.SHM);
        assertEquals(LaneKind.RDMA, read.lane());
        assertEquals(0x0102030405060708L, read.client());
        assertEquals("why", read.reason());
    }

    @Test
    void refuse() {
        String literal = "04 00 000c 0002 03 00 6e6f7065";
        assertBytes(literal, new Refuse(2, HandshakeFailure.NO_SECRET, "nope").encode());
        assertEquals(new Refuse(2, HandshakeFailure.NO_SECRET, "nope"), Refuse.decode(content(literal)));
    }

    @Test
    void codesOfRefuse() {
        assertEquals(1, HandshakeFailure.OTHER_PROTOCOL_VERSION.code());
        assertEquals(2, HandshakeFailure.PROTOCOL_VIOLATION.code());
        assertEquals(3, HandshakeFailure.NO_SECRET.code());
        assertEquals(4, HandshakeFailure.WRONG_SECRET.code());
        assertEquals(5, HandshakeFailure.NO_COMMON_LANE.code());
        assertEquals(6, HandshakeFailure.NO_MEMORY.code());
        assertEquals(7, HandshakeFailure.LOCAL_FAILURE.code());
        for (HandshakeFailure failure : HandshakeFailure.values()) {
            assertEquals(failure.code() == 0 ? HandshakeFailure.CONNECT_FAILED : failure,
                    HandshakeFailure.ofCode(failure.code()));
        }
        assertEquals(HandshakeFailure.CONNECT_FAILED, HandshakeFailure.ofCode(200));
    }

    @Test
    void numbersAndBitsOfLanes() {
        String[] names = {"shm", "rdma", "tcp", "socket"};
        for (LaneKind kind : LaneKind.values()) {
            assertEquals(names[kind.ordinal()], kind.toString());
            assertEquals(kind.ordinal() + 1, kind.number());
            assertEquals(1 << kind.ordinal(), kind.bit());
            assertEquals(kind, LaneKind.ofNumber(kind.number()));
        }
        assertNull(LaneKind.ofNumber(0));
        assertNull(LaneKind.ofNumber(5));
    }

    @Test
    void addressesThatAreNotKnownAreZero() throws HandshakeException {
        Hello unknown = new Hello(0, HELLO.party(), 8, false, false, 1, Hello.MIN_WINDOW, 1, HELLO.nonce(), null,
                InetSocketAddress.createUnresolved("somewhere", 80));
        ByteBuf out = Unpooled.buffer();
        unknown.encode(out, Hello.LENGTH);
        assertEquals("00".repeat(36), HandshakeFixture.hex(HandshakeFixture.part(out.array(), 112, 36)));
        Hello read = Hello.decode(out, Side.CLIENT);
        assertNull(read.local());
        assertNull(read.remote());
    }

    @Test
    void whatIsReservedIsIgnored() throws HandshakeException {
        ByteBuf in = in("4e65747479554358 0002 0100" + FIELDS);
        for (int i = 148; i < Hello.LENGTH; i++) {
            in.setByte(i, 0xff);
        }
        in.setShort(64, 0xfff9).setShort(66, 0xffff);
        Hello read = Hello.decode(in, Side.CLIENT);
        assertTrue(LaneKind.SHM.isIn(read.lanes()));
        assertFalse(LaneKind.RDMA.isIn(read.lanes()));
        assertTrue(read.secret());
    }

    @Test
    void noFrameIsLongerThanWhatHasToBeKept() {
        for (FrameType type : FrameType.values()) {
            assertTrue(type.maxLength() <= Handshake.MAX_BUFFERED, type.name());
        }
        assertEquals(56 + 8192, FrameType.OFFER.maxLength());
        assertEquals(16 + 8192, FrameType.HALF.maxLength());
        assertEquals(56 + 255, FrameType.GO.maxLength());
        assertEquals(8 + 255, FrameType.REFUSE.maxLength());
    }

    @Test
    void textsAreCut() {
        ByteBuf frame = new Refuse(2, HandshakeFailure.NO_SECRET, "x".repeat(300)).encode();
        assertEquals(FrameType.REFUSE.maxLength(), frame.readableBytes());
        assertEquals("x".repeat(252) + '…', Refuse.decode(FrameType.read(frame)).text());
        frame.release();
    }

    @Test
    void termsHaveLimits() {
        TestTerms terms = TestTerms.client().id(0);
        assertThrows(IllegalArgumentException.class, terms::build);
    }

    /** Records compare arrays by identity. */
    private static void assertSame(Hello expected, Hello actual) {
        ByteBuf one = Unpooled.buffer();
        ByteBuf other = Unpooled.buffer();
        expected.encode(one, Hello.LENGTH);
        actual.encode(other, Hello.LENGTH);
        assertEquals(one, other);
        assertEquals(expected.party(), actual.party());
        assertEquals(expected.local(), actual.local());
        assertEquals(expected.remote(), actual.remote());
        assertArrayEquals(expected.nonce(), actual.nonce());
        assertEquals(expected.lanes(), actual.lanes());
        assertEquals(expected.secret(), actual.secret());
        assertEquals(expected.translatedAddresses(), actual.translatedAddresses());
        assertEquals(expected.window(), actual.window());
        assertEquals(expected.maxMessage(), actual.maxMessage());
        assertEquals(expected.channelId(), actual.channelId());
        assertEquals(expected.ucxVersion(), actual.ucxVersion());
    }

    private static byte[] proof() {
        return HandshakeFixture.hex(PROOF);
    }

    private static ByteBuf in(String literal) {
        return Unpooled.wrappedBuffer(HandshakeFixture.hex(literal));
    }

    /** What is left of a frame when its header has been read. */
    private static ByteBuf content(String literal) {
        return FrameType.read(in(literal));
    }

    private static void assertBytes(String literal, ByteBuf frame) {
        assertEquals(HandshakeFixture.hex(HandshakeFixture.hex(literal)),
                HandshakeFixture.hex(HandshakeFixture.bytes(frame)));
    }
}
