// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A client and a server, and what lies between them on the wire. */
abstract class HandshakeFixture {

    static final String SECRET = "a secret of more than sixteen bytes";

    final FakeNearness host = new FakeNearness();
    final TestTerms clientTerms = TestTerms.client().near(host);
    final TestTerms serverTerms = TestTerms.server().near(host);
    final Random random = new Random(1);
    final FakeLinks clientLinks = new FakeLinks(TestTerms.CLIENT, random);
    final FakeLinks serverLinks = new FakeLinks(TestTerms.SERVER, random);
    final Recorder toServer = new Recorder();
    final Recorder toClient = new Recorder();
    final ByteBuf clientIn = Unpooled.buffer();
    final ByteBuf serverIn = Unpooled.buffer();
    /** What has been said, in its order: names of frames. */
    final List<String> said = new ArrayList<>();
    ClientHandshake client;
    ServerHandshake server;

    private int clientSaid;
    private int serverSaid;

    @AfterEach
    void givesEverythingBack() {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
        for (Recorder recorder : List.of(toServer, toClient)) {
            if (recorder.outcome != null && recorder.outcome.link() != null) {
                recorder.outcome.link().release();
            }
        }
        clientLinks.assertAtRest();
        serverLinks.assertAtRest();
        host.assertAtRest();
    }

    /** Both are there, and HELLO is on its way. */
    final void start() {
        startServer();
        startClient();
    }

    final void startClient() {
        client = new ClientHandshake(clientTerms.build(), clientLinks, toServer, random::nextBytes);
        client.start();
    }

    final void startServer() {
        server = new ServerHandshake(serverTerms::build, serverLinks, toClient, random::nextBytes);
    }

    /** Delivers what there is to deliver, frame by frame, until nobody says anything more. */
    final void talk() {
        talkUntil("nothing");
    }

    /** The same, until a frame of that name lies undelivered. */
    final void talkUntil(String name) {
        while (clientSaid < toServer.sent.size() || serverSaid < toClient.sent.size()) {
            boolean fromClient = clientSaid < toServer.sent.size();
            byte[] frame = fromClient ? toServer.sent.get(clientSaid) : toClient.sent.get(serverSaid);
            if (name(frame).equals(name)) {
                return;
            }
            said.add(name(frame));
            if (fromClient) {
                clientSaid++;
                deliver(server, serverIn, frame);
            } else {
                serverSaid++;
                deliver(client, clientIn, frame);
            }
        }
    }

    /** What lies undelivered, changed on its way. */
    final void change(Consumer<byte[]> how) {
        how.accept(clientSaid < toServer.sent.size() ? toServer.sent.get(clientSaid) : toClient.sent.get(serverSaid));
    }

    final void serverReceives(byte[] bytes) {
        deliver(server, serverIn, bytes);
    }

    final void clientReceives(byte[] bytes) {
        deliver(client, clientIn, bytes);
    }

    private static void deliver(Handshake handshake, ByteBuf in, byte[] bytes) {
        in.writeBytes(bytes);
        handshake.received(in);
    }

    static String name(byte[] frame) {
        if (frame[0] == 'N') {
            return frame.length == Hello.LENGTH ? "HELLO" : "ANSWER";
        }
        return frame[0] > FrameType.values().length ? "type " + frame[0] : FrameType.values()[frame[0] - 1].name();
    }

    final void assertOpen(LaneKind lane) {
        assertNull(toServer.failure);
        assertNull(toClient.failure);
        assertNotNull(toServer.outcome, () -> "the client is not open: " + said);
        assertNotNull(toClient.outcome, () -> "the server is not open: " + said);
        assertEquals(lane, toServer.outcome.lane());
        assertEquals(lane, toClient.outcome.lane());
        assertTrue(client.isOver());
        assertTrue(server.isOver());
        if (lane == LaneKind.SOCKET) {
            assertNull(toServer.outcome.link());
            assertNull(toClient.outcome.link());
        } else {
            FakeLinks.Half mine = ((FakeLinks.Pin) toServer.outcome.link()).half;
            FakeLinks.Half theirs = ((FakeLinks.Pin) toClient.outcome.link()).half;
            assertEquals(mine.number, theirs.theirs);
            assertEquals(theirs.number, mine.theirs);
            assertTrue(theirs.confirmed);
        }
    }

    /** One side found it, and told the other. */
    final void assertRefused(Recorder who, HandshakeFailure reason, String message) {
        assertFailed(who, reason, message);
        boolean byClient = who == toServer;
        assertEquals("REFUSE", name(who.sent.getLast()));
        HandshakeException told = byClient ? toClient.failure : toServer.failure;
        assertEquals((byClient ? "the client" : "the server") + " refused the connection: " + message,
                told.getMessage());
        assertEquals(reason, told.reason());
        assertTrue(told.ofPeer());
    }

    final void assertFailed(Recorder who, HandshakeFailure reason, String message) {
        assertNotNull(who.failure, () -> "it did not fail; said: " + said);
        assertEquals(message, who.failure.getMessage());
        assertEquals(reason, who.failure.reason());
        assertNull(who.outcome);
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
    }

    static String hex(byte[] bytes) {
        return ByteBufUtil.hexDump(bytes);
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] part(byte[] frame, int offset, int length) {
        return Arrays.copyOfRange(frame, offset, offset + length);
    }

    /** All of a frame, which is released. */
    static byte[] bytes(ByteBuf frame) {
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        frame.release();
        return bytes;
    }
}
