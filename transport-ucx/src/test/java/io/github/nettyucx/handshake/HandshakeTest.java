// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HandshakeTest extends HandshakeFixture {

    // ------------------------------------------------------------------------------------------- how it goes

    @Test
    void takesThreeFramesIfBothHaveTheLink() {
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "GO"), said);
        assertOpen(LaneKind.SHM);
        assertEquals(List.of(), toServer.outcome.reasons());
        assertEquals(List.of(), toClient.outcome.reasons());
    }

    @Test
    void takesFiveFramesIfThereIsNoLinkYet() {
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
    }

    @Test
    void tellsEachSideWhatTheOtherIs() {
        start();
        talk();
        Hello client = toClient.outcome.peer();
        assertEquals(TestTerms.CLIENT, client.party());
        assertEquals(TestTerms.CLIENT_ID, client.channelId());
        assertEquals(TestTerms.WINDOW, client.window());
        assertEquals(TestTerms.MAX_MESSAGE, client.maxMessage());
        assertEquals(TestTerms.UCX_1_22_0, client.ucxVersion());
        assertEquals(TestTerms.CLIENT_ADDRESS, client.local());
        assertEquals(TestTerms.SERVER_ADDRESS, client.remote());
        assertEquals(TestTerms.SERVER_ID, toServer.outcome.peer().channelId());
        assertEquals(TestTerms.SERVER, toServer.outcome.peer().party());
    }

    @Test
    void leavesTheBytesOfTheStreamThatFollowGo() {
        clientTerms.lanes("socket");
        start();
        talkUntil("GO");
        assertNotNull(toServer.outcome, "the client may send when GO is on its way");
        assertNull(toClient.outcome);
        serverIn.writeBytes(toServer.sent.getLast()).writeBytes(ascii("GET /"));
        server.received(serverIn);
        assertEquals(LaneKind.SOCKET, toClient.outcome.lane());
        assertEquals("GET /", serverIn.toString(StandardCharsets.US_ASCII));
        server.received(serverIn);
        assertEquals(5, serverIn.readableBytes(), "nothing is read after the end");
    }

    @Test
    void takesFramesInPiecesOfAByte() {
        start();
        for (int next = 0, client = 0; client < toServer.sent.size() || next < toClient.sent.size(); ) {
            boolean fromClient = client < toServer.sent.size();
            byte[] frame = fromClient ? toServer.sent.get(client++) : toClient.sent.get(next++);
            for (byte b : frame) {
                if (fromClient) {
                    serverReceives(new byte[] {b});
                } else {
                    clientReceives(new byte[] {b});
                }
            }
        }
        assertOpen(LaneKind.SHM);
    }

    @Test
    void asksForTermsWhenHelloIsThereAndNotBefore() {
        AtomicInteger asked = new AtomicInteger();
        startClient();
        server = new ServerHandshake(() -> {
            asked.incrementAndGet();
            return serverTerms.build();
        }, serverLinks, toClient, random::nextBytes);
        byte[] hello = toServer.sent.getFirst();
        serverReceives(part(hello, 0, 255));
        assertEquals(0, asked.get());
        serverReceives(part(hello, 255, 1));
        assertEquals(1, asked.get());
        assertEquals("ANSWER", name(toClient.sent.getFirst()));
    }

    @Test
    void opensOnLinksToItself() {
        FakeLinks both = new FakeLinks(TestTerms.SERVER, random);
        clientTerms.party(TestTerms.SERVER);
        client = new ClientHandshake(clientTerms.build(), both, toServer, random::nextBytes);
        client.start();
        server = new ServerHandshake(serverTerms::build, both, toClient, random::nextBytes);
        talk();
        assertOpen(LaneKind.SHM);
        assertEquals(2, both.pinned);
    }

    // ------------------------------------------------------------------------------------------- links

    @Test
    void makesANewLinkIfTheClientDoesNotHaveTheOneThatTheServerNames() {
        FakeLinks.join(new FakeLinks(TestTerms.CLIENT, random), serverLinks, LaneKind.SHM, TestTerms.CLIENT,
                TestTerms.SERVER);
        start();
        talkUntil("OFFER");
        assertEquals(1, serverLinks.pinned);
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
        assertEquals(1, serverLinks.pinned, "the first one is released");
    }

    @Test
    void makesANewLinkIfTheServerDoesNotHaveTheOneThatTheClientHas() {
        FakeLinks.join(clientLinks, new FakeLinks(TestTerms.SERVER, random), LaneKind.SHM, TestTerms.CLIENT,
                TestTerms.SERVER);
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
        assertEquals(1, clientLinks.markedStale);
    }

    @Test
    void waitsForTheLinkThatAnotherHandshakeMakes() {
        LinkRequest[] request = new LinkRequest[1];
        Links slow = new DelegatingLinks(clientLinks) {
            @Override
            public void request(LaneKind lane, Party server, LinkRequest asked) {
                request[0] = asked;
            }
        };
        startServer();
        client = new ClientHandshake(clientTerms.build(), slow, toServer, random::nextBytes);
        client.start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER"), said);
        // Another connection's GO is on its way: the server has its half, but does not know that the client has his.
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        serverLinks.halves.getFirst().confirmed = false;
        FakeLinks.Half made = clientLinks.halves.getFirst();
        request[0].reuse(clientLinks.match(LaneKind.SHM, TestTerms.SERVER, made.theirs), made.theirs);
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
    }

    @Test
    void takesTheSocketAfterThreeLinksThatTheServerDidNotHave() {
        clientTerms.lanes("shm,socket");
        startServer();
        client = new ClientHandshake(clientTerms.build(), alwaysStale(), toServer, random::nextBytes);
        client.start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "OFFER", "HALF", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SOCKET);
        List<String> reasons = List.of("shm: the server did not have the link any more, 3 times");
        assertEquals(reasons, toServer.outcome.reasons().subList(0, 1));
        assertEquals(reasons, toClient.outcome.reasons().subList(0, 1));
        assertEquals(3, clientLinks.markedStale);
    }

    @Test
    void failsAfterThreeStaleLinksIfTheSocketIsNotAllowed() {
        clientTerms.lanes("shm");
        startServer();
        client = new ClientHandshake(clientTerms.build(), alwaysStale(), toServer, random::nextBytes);
        client.start();
        talk();
        assertRefused(toServer, HandshakeFailure.NO_COMMON_LANE, "there is no lane: shm: the server did not have the"
                + " link any more, 3 times; socket: not allowed by both sides");
    }

    /** Has a link to offer each time, and the server knows none of them. */
    private Links alwaysStale() {
        return new DelegatingLinks(clientLinks) {
            @Override
            public void request(LaneKind lane, Party server, LinkRequest asked) {
                FakeLinks.join(clientLinks, new FakeLinks(TestTerms.SERVER, random), lane, TestTerms.CLIENT, server);
                super.request(lane, server, asked);
            }
        };
    }

    @Test
    void takesTheSocketIfTheServerCannotMakeItsHalf() {
        clientTerms.lanes("shm,socket");
        serverLinks.acceptFailure = lane -> "shmat: Permission denied";
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: shmat: Permission denied"), toServer.outcome.reasons());
        assertEquals(List.of("shm: shmat: Permission denied"), toClient.outcome.reasons());
        assertEquals(1, clientLinks.abandoned);
    }

    @Test
    void takesTheSocketIfTheClientCannotCompleteItsHalf() {
        clientTerms.lanes("shm,socket");
        clientLinks.completeFailure = lane -> "no descriptors\n\u001b[31m";
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: no descriptors ?[31m"), toClient.outcome.reasons(), "made printable");
        assertTrue(serverLinks.halves.getFirst().gone, "the server's half is given up");
        assertFalse(serverLinks.halves.getFirst().confirmed);
    }

    @Test
    void takesTheSocketIfTheClientHasNoLinkToOffer() {
        clientTerms.lanes("shm,socket");
        clientLinks.unavailable = lane -> "no worker";
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "GO"), said);
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: no worker"), toClient.outcome.reasons());
    }

    @Test
    void takesTheSocketIfAWorkerAddressIsTooLong() {
        clientTerms.lanes("shm,socket");
        clientLinks.addressLength = FrameType.MAX_ADDRESS + 1;
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: the client's worker address has 8193 bytes; expected 1 to 8192"),
                toServer.outcome.reasons());
    }

    @Test
    void takesTheSocketIfTheServersWorkerAddressIsTooLong() {
        clientTerms.lanes("shm,socket");
        serverLinks.addressLength = FrameType.MAX_ADDRESS + 1;
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: the server's worker address has 8193 bytes; expected 1 to 8192"),
                toServer.outcome.reasons());
    }

    // ------------------------------------------------------------------------------------------- the next lane

    private static final Function<LaneKind, String> NO_SHM = lane -> lane == LaneKind.SHM ? "/dev/shm is full" : null;
    private static final List<String> WHY_NOT_SHM = List.of("shm: /dev/shm is full");

    @Test
    void takesTheNextLaneIfTheServerCannotMakeItsHalf() {
        serverLinks.acceptFailure = NO_SHM;
        assertTurnsToRdma("HELLO", "ANSWER", "OFFER", "HALF", "OFFER", "HALF", "GO");
    }

    private void assertTurnsToRdma(String... frames) {
        start();
        talk();
        assertEquals(List.of(frames), said);
        assertOpen(LaneKind.RDMA);
        assertEquals(WHY_NOT_SHM, toServer.outcome.reasons());
        assertEquals(WHY_NOT_SHM, toClient.outcome.reasons());
    }

    @Test
    void takesTheNextLaneIfTheClientCannotCompleteItsHalf() {
        clientLinks.completeFailure = NO_SHM;
        assertTurnsToRdma("HELLO", "ANSWER", "OFFER", "HALF", "OFFER", "HALF", "GO");
        assertTrue(serverLinks.halves.getFirst().gone, "the server's half of the first is given up");
        assertFalse(serverLinks.halves.getFirst().confirmed);
    }

    @Test
    void takesTheNextLaneIfTheClientHasNoLinkToOffer() {
        clientLinks.unavailable = NO_SHM;
        assertTurnsToRdma("HELLO", "ANSWER", "OFFER", "HALF", "GO");
    }

    /** The server did not choose it, so that it has not named the link. */
    @Test
    void takesALinkOfTheNextLaneThatBothHave() {
        FakeLinks.join(clientLinks, serverLinks, LaneKind.RDMA, TestTerms.CLIENT, TestTerms.SERVER);
        clientLinks.unavailable = NO_SHM;
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.RDMA);
        assertEquals(0, clientLinks.made);
    }

    @Test
    void takesTheNextLaneAfterThreeLinksThatTheServerDidNotHave() {
        startServer();
        client = new ClientHandshake(clientTerms.build(), new DelegatingLinks(clientLinks) {
            @Override
            public void request(LaneKind lane, Party server, LinkRequest asked) {
                (lane == LaneKind.SHM ? alwaysStale() : clientLinks).request(lane, server, asked);
            }
        }, toServer, random::nextBytes);
        client.start();
        talk();
        assertOpen(LaneKind.RDMA);
        assertEquals(3, clientLinks.markedStale);
        assertEquals(List.of("shm: the server did not have the link any more, 3 times"), toClient.outcome.reasons());
    }

    @Test
    void takesOneLaneAfterTheOtherAndTheSocketAtLast() {
        clientTerms.lanes("rdma,shm,tcp,socket");
        serverTerms.lanes("shm,rdma,tcp,socket");
        serverLinks.acceptFailure = lane -> lane == LaneKind.SHM ? "/dev/shm is full" : null;
        clientLinks.completeFailure = lane -> lane == LaneKind.RDMA ? "no queue pair" : null;
        clientLinks.unavailable = lane -> lane == LaneKind.TCP ? "no worker" : null;
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("rdma: the server prefers shm", "shm: /dev/shm is full", "rdma: no queue pair",
                "tcp: no worker"), toServer.outcome.reasons());
        assertEquals(List.of("shm: /dev/shm is full; rdma: no queue pair; tcp: no worker"), toClient.outcome.reasons());
    }

    @Test
    void failsIfNoneOfTheLanesCanBeHad() {
        clientTerms.lanes("shm,rdma");
        serverLinks.acceptFailure = lane -> lane == LaneKind.SHM ? "/dev/shm is full" : "no queue pair";
        start();
        talk();
        assertRefused(toServer, HandshakeFailure.NO_COMMON_LANE, "there is no lane: shm: /dev/shm is full;"
                + " rdma: no queue pair; socket: not allowed by both sides");
    }

    /** It prefers the socket to what is left. */
    @Test
    void takesTheSocketBeforeALaneThatTheClientLikesLess() {
        clientTerms.lanes("shm,socket,rdma");
        serverLinks.acceptFailure = NO_SHM;
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(WHY_NOT_SHM, toClient.outcome.reasons());
    }

    @Test
    void takesTheLongestWorkerAddress() {
        clientLinks.addressLength = FrameType.MAX_ADDRESS;
        serverLinks.addressLength = FrameType.MAX_ADDRESS;
        start();
        talk();
        assertOpen(LaneKind.SHM);
    }

    @Test
    void tellsTheClientWhyItDoesNotHaveTheLaneThatItLikesBest() {
        clientTerms.lanes("rdma,shm,socket").without(LaneKind.RDMA, "no device");
        serverTerms.lanes("socket,shm");
        start();
        talk();
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("rdma: no device", "shm: the server prefers socket"), toServer.outcome.reasons());
        assertEquals(List.of(), toClient.outcome.reasons());
    }

    // ------------------------------------------------------------------------------------------- the end of it

    @Test
    void withdrawsWhatItHasAskedFor() {
        clientLinks.later = work -> { };
        start();
        talk();
        client.close();
        assertEquals(1, clientLinks.withdrawn);
    }

    @Test
    void abandonsWhatItHasOffered() {
        start();
        talkUntil("HALF");
        assertEquals(1, serverLinks.pinned);
        client.close();
        server.close();
        assertEquals(1, clientLinks.abandoned);
        assertEquals(0, serverLinks.pinned);
        assertTrue(serverLinks.halves.getFirst().gone);
    }

    @Test
    void saysNothingWhenItIsClosed() {
        start();
        talkUntil("HALF");
        int sent = toServer.sent.size();
        client.close();
        client.close();
        clientReceives(toClient.sent.getLast());
        assertEquals(sent, toServer.sent.size());
        assertNull(toServer.failure);
        assertNull(toServer.outcome);
        assertTrue(client.isOver());
    }

    @Test
    void givesBackWhatComesWhenItIsClosed() {
        LinkRequest[] request = new LinkRequest[1];
        Links careless = new DelegatingLinks(clientLinks) {
            @Override
            public void request(LaneKind lane, Party server, LinkRequest asked) {
                request[0] = asked;
            }

            @Override
            public void withdraw(LinkRequest asked) {
                assertSame(request[0], asked);
            }
        };
        startServer();
        client = new ClientHandshake(clientTerms.build(), careless, toServer, random::nextBytes);
        client.start();
        talk();
        client.close();
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        FakeLinks.Half made = clientLinks.halves.getFirst();
        request[0].reuse(clientLinks.match(LaneKind.SHM, TestTerms.SERVER, made.theirs), made.theirs);
        assertEquals(0, clientLinks.pinned);
        assertEquals(2, toServer.sent.size() + toClient.sent.size());
    }

    @Test
    void canBeClosedByItsOwnerWhileItSpeaks() {
        startServer();
        ClientHandshake[] speaking = new ClientHandshake[1];
        Handshake.Owner owner = new Handshake.Owner() {
            @Override
            public void send(ByteBuf frame) {
                toServer.send(frame);
                if (toServer.sent.size() == 3) {
                    speaking[0].close();
                }
            }

            @Override
            public void opened(Outcome outcome) {
                toServer.opened(outcome);
            }

            @Override
            public void failed(HandshakeException cause) {
                toServer.failed(cause);
            }
        };
        client = new ClientHandshake(clientTerms.build(), clientLinks, owner, random::nextBytes);
        speaking[0] = client;
        client.start();
        talk();
        assertEquals("GO", said.getLast());
        assertNull(toServer.outcome);
        assertEquals(0, clientLinks.pinned);
    }

    @Test
    void failsAndSaysSoIfLinksThrow() {
        startServer();
        RuntimeException broken = new IllegalStateException("broken");
        Links links = new DelegatingLinks(clientLinks) {
            @Override
            public void request(LaneKind lane, Party server, LinkRequest asked) {
                super.request(lane, server, asked);
                throw broken;
            }
        };
        clientLinks.later = work -> { };
        client = new ClientHandshake(clientTerms.build(), links, toServer, random::nextBytes);
        client.start();
        talk();
        assertRefused(toServer, HandshakeFailure.LOCAL_FAILURE, "the client failed in the handshake");
        assertSame(broken, toServer.failure.getCause());
    }

    @Test
    void failsAndSaysSoIfThereIsNoMemory() {
        startClient();
        server = new ServerHandshake(() -> {
            throw new OutOfMemoryError("none");
        }, serverLinks, toClient, random::nextBytes);
        talk();
        assertRefused(toClient, HandshakeFailure.NO_MEMORY, "the server has no memory for the handshake");
    }

    @Test
    void isNotStartedTwice() {
        startClient();
        assertThrows(IllegalStateException.class, client::start);
    }

    // ------------------------------------------------------------------------------------------- first bytes

    @Test
    void tellsPlainClientsFromOurs() {
        ByteBuf in = Unpooled.buffer();
        assertEquals(ServerHandshake.Client.UNDECIDED, ServerHandshake.classify(in));
        for (byte b : ascii("NettyUC")) {
            in.writeByte(b);
            assertEquals(ServerHandshake.Client.UNDECIDED, ServerHandshake.classify(in));
        }
        in.writeByte('X');
        assertEquals(ServerHandshake.Client.UCX, ServerHandshake.classify(in));
        in.writeByte(0);
        assertEquals(ServerHandshake.Client.UCX, ServerHandshake.classify(in));
        assertEquals(9, in.readableBytes());
        for (String plain : List.of("G", "NG", "NettyUCx", "NettyUDX and more", "\0")) {
            assertEquals(ServerHandshake.Client.PLAIN, ServerHandshake.classify(Unpooled.wrappedBuffer(ascii(plain))));
        }
    }
}
