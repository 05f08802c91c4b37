// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.nettyucx.handshake.Hello;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.lane.ScriptedLinks.Endpoint;
import io.github.nettyucx.lane.ScriptedLinks.Endpoint.Sent;
import io.github.nettyucx.lane.ScriptedLinks.Worker;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.Pipe;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import java.io.File;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A lane over a link: what comes before the handshake is over, and what the control socket tells afterwards. */
class LinkLaneTest implements LaneListener {

    private static final int ID = 0xcafe;
    private static final int PEER_ID = 0xbeef;
    private static final int WINDOW = 1 << 16;
    private static final int DATA = 1;
    private static final int CREDIT = 2;
    private static final int FIN = 3;
    private static final int FIN_ACK = 4;

    private final ScriptedLinks loop = new ScriptedLinks();
    private final ScriptedControl control = new ScriptedControl();
    private final List<String> told = new ArrayList<>();
    @TempDir
    Path directory;
    private OwnHalf half;
    private Endpoint endpoint;
    private Worker worker;
    private LinkLane lane;

    @BeforeEach
    void makeTheLane() throws Exception {
        half = loop.served(ScriptedLinks.PEER, 1);
        endpoint = ScriptedLinks.endpoint(half);
        worker = ScriptedLinks.worker(half);
        lane = new LinkLane(LaneKind.SHM, half, control, new ConnectionLimits(ID, WINDOW, WINDOW),
                ScriptedLinks.SEND_BUFFERS, ScriptedLinks.PIPES, Unpooled::directBuffer, Traffic.ofConnection());
    }

    @AfterEach
    void everythingIsGivenBack() {
        lane.close(false);
        assertEquals(endpoint.received, endpoint.delivered(), "every message is received once");
        assertEquals(List.of(), endpoint.users);
        loop.idle(LinkTable.IDLE_NANOS);
        assertEquals(1, endpoint.closes);
        assertEquals(0, worker.pins);
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
    public void endAcknowledged() {
        told.add("acknowledged");
    }

    @Override
    public void lost(IOException cause) {
        told.add("lost: " + cause.getMessage());
    }

    private void open() {
        open(lane);
    }

    private void open(LinkLane opened) {
        opened.open(new Hello(0, ScriptedLinks.PEER, LaneSet.DEFAULT.mask(), false, false, PEER_ID, WINDOW, WINDOW,
                new byte[32], null, null));
        opened.listener(this);
    }

    private String read() {
        ByteBuf buffer = lane.read(WINDOW, Unpooled::directBuffer);
        if (buffer == null) {
            return null;
        }
        String text = buffer.toString(StandardCharsets.US_ASCII);
        buffer.release();
        lane.settle();
        return text;
    }

    private void controlTells(int received) {
        control.peeked = received;
        lane.socketReady(0);
    }

    private void allHasArrived() {
        assertEquals(1, worker.reports.size());
        worker.reports.removeFirst().run();
    }

    // ------------------------------------------------------------------------------------------- before GO

    @Test
    void messagesThatAreFasterThanTheHandshakeAreKept() {
        assertTrue(endpoint.deliver(ID, DATA, 0, "early "));
        endpoint.deliver(ID, DATA, 0, "bytes");
        endpoint.deliver(ID, FIN, 0, "");
        assertEquals(List.of(), endpoint.sent, "nothing is sent before the handshake is over");
        open();
        assertTrue(lane.isReadable());
        assertTrue(lane.isInputFinished());
        assertEquals("early bytes", read() + read());
        assertTrue(lane.isAtEnd());
        assertTrue(endpoint.sent.contains(new Sent(PEER_ID, FIN_ACK, 0)));
    }

    @Test
    void aLaneThatIsNotTakenKeepsNothing() {
        endpoint.deliver(ID, DATA, 0, "early");
        lane.close(false);
        assertEquals(List.of(), endpoint.sent);
        assertFalse(endpoint.deliver(ID, FIN, 0, ""), "somebody takes messages after the close");
    }

    @Test
    void aLinkThatFailsBeforeTheHandshakeIsOverIsToldAfterwards() {
        endpoint.deliver(ID, DATA, 0, "early");
        endpoint.fail(UcsStatus.ERR_CONNECTION_RESET);
        open();
        assertEquals(List.of("lost: Connection reset by peer"), told);
        assertFalse(lane.isOpen());
        assertEquals("early", read());
        assertNull(read());
        assertEquals(List.of(), endpoint.sent);
    }

    @Test
    void anExceptionBeforeTheHandshakeIsOverIsLoggedAndToldAfterwards() {
        Logger log = (Logger) LoggerFactory.getLogger(LinkLane.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        log.addAppender(logged);
        LinkLane starved = new LinkLane(LaneKind.SHM, half.pinned(), new ScriptedControl(),
                new ConnectionLimits(ID + 1, WINDOW, WINDOW), ScriptedLinks.SEND_BUFFERS, ScriptedLinks.PIPES, length -> {
                    throw new OutOfMemoryError("as the test wants it");
                }, Traffic.ofConnection());
        endpoint.deliver(ID + 1, DATA, 0, "early");
        endpoint.thrown = new IllegalStateException("as the test wants it");
        endpoint.fail(UcsStatus.ERR_CONNECTION_RESET);
        endpoint.thrown = null;
        log.detachAppender(logged);
        assertEquals(1, logged.list.size());
        open(starved);
        assertEquals(List.of("lost: Connection lost: java.lang.IllegalStateException: as the test wants it"), told);
        starved.close(false);
    }

    // ------------------------------------------------------------------------------------------- input

    /** With Netty's unpooled buffers the parts of a message and the message have one count. */
    @Test
    void anApplicationThatReleasesAPartOfAMessageTwiceLosesItsConnection() {
        open();
        endpoint.deliver(ID, DATA, 0, "a message");
        told.clear();
        lane.read(2, Unpooled::directBuffer).release(2);
        assertNull(read());
        assertEquals(1, told.size());
        assertTrue(told.getFirst().startsWith("lost: Connection lost: io.netty.util.IllegalReferenceCountException: "),
                told::toString);
        assertFalse(lane.isReadable());
        assertFalse(lane.isOpen());
    }

    // ------------------------------------------------------------------------------------------- the control socket

    /** UCX has failed the link, and what had arrived is still to be read: a write that fails meanwhile is no reason to close. */
    @Test
    void itIsEndingWhileTheFailureOfItsLinkIsHeldBack() {
        open();
        assertFalse(lane.isEnding());
        endpoint.failing = true;
        assertTrue(lane.isEnding());
        endpoint.deliver(ID, DATA, 0, "last words");
        endpoint.failing = false;
        lane.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertFalse(lane.isEnding());
        assertEquals("last words", read());
    }

    /** As keepalive tells it, or TCP_USER_TIMEOUT. */
    @Test
    void aNetworkThatHasGoneIsNoResetOfThePeers() {
        open();
        controlTells(-Errno.ETIMEDOUT);
        allHasArrived();
        assertEquals("lost: Connection timed out", told.getLast());
        assertEquals(CloseReason.LOST, lane.closeReason());
    }

    @Test
    void theEndOfTheControlSocketIsToldAfterWhatHadArrived() {
        open();
        controlTells(0);
        endpoint.deliver(ID, DATA, 0, "last words");
        assertFalse(told.contains("lost: Connection reset by peer"));
        assertTrue(lane.isOpen());
        allHasArrived();
        assertEquals("lost: Connection reset by peer", told.getLast());
        assertEquals(CloseReason.RESET_BY_PEER, lane.closeReason());
        assertEquals("last words", read());
        assertFalse(lane.isAtEnd(), "a stream that was cut has no end");
    }

    @Test
    void theEndOfTheStreamBeforeItIsAnOrderlyEnd() {
        open();
        endpoint.deliver(ID, DATA, 0, "all");
        controlTells(0);
        endpoint.deliver(ID, FIN, 1, "");
        allHasArrived();
        assertTrue(told.stream().noneMatch(event -> event.startsWith("lost")), told::toString);
        assertNull(lane.failure());
        assertEquals(CloseReason.ORDERLY, lane.closeReason());
        assertEquals("all", read());
        assertTrue(lane.isAtEnd());
    }

    @Test
    void aPeerThatIsGoneWithOurBytesIsAnOrderlyEndIfHisStreamHadEnded() {
        open();
        lane.finish(false);
        endpoint.deliver(ID, FIN, 1, "");
        controlTells(-Errno.ECONNRESET);
        allHasArrived();
        assertTrue(told.contains("acknowledged"), "nobody is left to acknowledge it");
        assertEquals(CloseReason.ORDERLY, lane.closeReason());
    }

    @Test
    void aResetIsAReset() {
        open();
        controlTells(-Errno.ECONNRESET);
        allHasArrived();
        assertEquals(List.of("lost: Connection reset by peer"), told);
        assertInstanceOf(SocketException.class, lane.failure());
        assertSame(lane.failure(), assertThrows(SocketException.class, () -> lane.write(null, 1)));
    }

    @Test
    void aPeerThatDoesNotAnswerTheKernelIsLostByThatReason() {
        open();
        controlTells(-Errno.ETIMEDOUT);
        allHasArrived();
        assertEquals(List.of("lost: Connection timed out"), told);
    }

    @Test
    void bytesOnTheControlSocketAreAViolation() {
        open();
        endpoint.deliver(ID, FIN, 0, "");
        told.clear();
        controlTells(1);
        assertEquals(1, told.size(), told::toString);
        assertInstanceOf(ProtocolException.class, lane.failure());
        assertEquals(CloseReason.PROTOCOL_VIOLATION, lane.closeReason());
        controlTells(0);
        assertEquals(List.of(), worker.reports, "the end is told already");
    }

    @Test
    void thePeerLearnsOfALossThoughThereIsSomethingToRead() {
        open();
        endpoint.deliver(ID, DATA, 0, "unread");
        assertEquals(0, control.ends);
        lane.endpointFailed(UcsStatus.ERR_NO_MEMORY);
        assertEquals(1, control.ends);
        assertTrue(lane.isReadable());
        assertEquals("unread", read());
    }

    @Test
    void aLossBeforeTheChannelHasTheLaneIsToldWhenItTakesIt() {
        lane.endpointFailed(UcsStatus.ERR_NO_MEMORY);
        assertEquals(0, control.ends, "the handshake is not over");
        open();
        assertEquals(1, control.ends);
        assertEquals(1, told.size(), told::toString);
    }

    @Test
    void nothingIsToldWhenThereIsNothingOnTheControlSocket() {
        open();
        controlTells(-Errno.EAGAIN);
        assertEquals(List.of(), worker.reports);
        assertTrue(lane.isOpen());
    }

    @Test
    void theEndIsToldOnce() {
        open();
        controlTells(0);
        controlTells(0);
        allHasArrived();
        controlTells(0);
        assertEquals(List.of(), worker.reports);
        assertEquals(1, told.size());
    }

    @Test
    void theEndIsNoNewsAfterTheClose() {
        open();
        controlTells(0);
        lane.close(false);
        allHasArrived();
        controlTells(0);
        assertEquals(List.of(), worker.reports);
        assertEquals(List.of(), told);
    }

    @Test
    void aLinkThatFailsBetweenTheTwoIsToldOnce() {
        open();
        controlTells(0);
        endpoint.fail(UcsStatus.ERR_ENDPOINT_TIMEOUT);
        allHasArrived();
        assertEquals(List.of("lost: Connection reset by peer"), told);
    }

    // ------------------------------------------------------------------------------------------- the close

    @Test
    void theCloseGivesBackThePinOnce() {
        open();
        OwnHalf other = half.pinned();
        lane.close(false);
        lane.close(true);
        assertEquals(0, control.resets, "it was closed before");
        other.release();
        assertThrows(IllegalStateException.class, half::release);
    }

    @Test
    void aResetResetsTheControlSocket() {
        open();
        lane.close(true);
        assertEquals(1, control.resets);
    }

    @Test
    void aControlSocketThatCannotBeResetEndsInstead() {
        open();
        control.failure = new SocketException("Invalid argument");
        lane.close(true);
        assertEquals(1, control.resets);
    }

    @Test
    void theCloseOfOneIsNothingToTheOthersOfTheLink() {
        open();
        LinkLane other = new LinkLane(LaneKind.SHM, half.pinned(), new ScriptedControl(),
                new ConnectionLimits(ID + 1, WINDOW, WINDOW), ScriptedLinks.SEND_BUFFERS, ScriptedLinks.PIPES,
                Unpooled::directBuffer, Traffic.ofConnection());
        lane.close(true);
        assertEquals(0, endpoint.closes);
        assertTrue(endpoint.deliver(ID + 1, DATA, 0, "for the other"));
        assertTrue(other.isReadable());
        other.close(false);
    }

    // ------------------------------------------------------------------------------------------- output

    private static FileRegion add(ChannelOutboundBuffer out, FileRegion file) {
        out.addMessage(file, 0, new EmbeddedChannel().newPromise());
        out.addFlush();
        return file;
    }

    private void grant(int bytes) {
        endpoint.deliver(ID, CREDIT, bytes, "");
    }

    /** Java would copy it twice, by many calls. */
    @Test
    void aFileGoesThroughAPipe() throws Exception {
        open();
        byte[] content = Raw.bytes(3 * WINDOW, 1);
        ChannelOutboundBuffer out = new EmbeddedChannel().unsafe().outboundBuffer();
        FileRegion file = add(out, new DefaultFileRegion(Files.write(directory.resolve("file"), content).toFile(), 0,
                content.length));
        assertEquals(Written.WAITING, lane.write(out, 16));
        int sent = endpoint.bytes.size();
        assertTrue(sent > 0 && sent < file.transferred(), () -> sent + " bytes sent, " + file.transferred() + " taken");
        assertEquals(1, ScriptedLinks.PIPES.inUse());
        while (!out.isEmpty()) {
            grant(WINDOW / 2);
            lane.write(out, 16);
        }
        assertArrayEquals(content, endpoint.bytes.toByteArray());
        assertEquals(content.length, file.transferred());
        assertEquals(0, file.refCnt());
        assertEquals(0, ScriptedLinks.PIPES.inUse());
    }

    @Test
    void aFileIsCopiedByJavaWhereThereAreNoPipes() throws Exception {
        open();
        byte[] content = Raw.bytes(WINDOW / 2, 2);
        ChannelOutboundBuffer out = new EmbeddedChannel().unsafe().outboundBuffer();
        add(out, new DefaultFileRegion(Files.write(directory.resolve("file"), content).toFile(), 0, content.length));
        List<Pipe> all = new ArrayList<>();
        for (Pipe pipe = ScriptedLinks.PIPES.acquire(); pipe != null; pipe = ScriptedLinks.PIPES.acquire()) {
            all.add(pipe);
        }
        assertEquals(Written.DRAINED, lane.write(out, 16));
        assertArrayEquals(content, endpoint.bytes.toByteArray());
        all.forEach(ScriptedLinks.PIPES::release);
    }

    @Test
    void whatWasTakenFromAFileThatHasFailedIsNotSent() throws Exception {
        open();
        byte[] content = Raw.bytes(3 * WINDOW, 3);
        File file = Files.write(directory.resolve("file"), content).toFile();
        ChannelOutboundBuffer out = new EmbeddedChannel().unsafe().outboundBuffer();
        add(out, new DefaultFileRegion(file, 0, content.length));
        assertEquals(Written.WAITING, lane.write(out, 16));
        int sent = endpoint.bytes.size();
        out.remove(new IOException("as the test wants it"));
        add(out, new DefaultFileRegion(file, WINDOW, WINDOW / 2));
        while (!out.isEmpty()) {
            grant(WINDOW / 2);
            lane.write(out, 16);
        }
        byte[] all = endpoint.bytes.toByteArray();
        assertArrayEquals(Arrays.copyOfRange(content, WINDOW, WINDOW + WINDOW / 2), Arrays.copyOfRange(all, sent, all.length));
        assertEquals(0, ScriptedLinks.PIPES.inUse());
    }

    @Test
    void whatWasTakenFromAFileGoesWithTheLane() throws Exception {
        open();
        byte[] content = Raw.bytes(3 * WINDOW, 4);
        ChannelOutboundBuffer out = new EmbeddedChannel().unsafe().outboundBuffer();
        add(out, new DefaultFileRegion(Files.write(directory.resolve("file"), content).toFile(), 0, content.length));
        assertEquals(Written.WAITING, lane.write(out, 16));
        assertEquals(1, ScriptedLinks.PIPES.inUse());
        lane.close(false);
        assertEquals(0, ScriptedLinks.PIPES.inUse());
        out.remove(new IOException("closed"));
    }

    @Test
    void aWriteThatUcxRefusesSaysWhyAndDoesNotBlameThePeer() {
        open();
        ChannelOutboundBuffer out = new EmbeddedChannel().unsafe().outboundBuffer();
        out.addMessage(Unpooled.directBuffer(8).writeLong(1), 8, new EmbeddedChannel().newPromise());
        out.addFlush();
        endpoint.failure = UcsStatus.ERR_NO_MEMORY;
        IOException refused = assertThrows(IOException.class, () -> lane.write(out, 16));
        assertEquals("Connection lost: NO_MEMORY", refused.getMessage());
        assertTrue(out.remove(refused));
    }
}
