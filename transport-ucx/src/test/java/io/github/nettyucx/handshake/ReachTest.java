// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.function.Predicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a client does while nothing has crossed the link that both sides have made. */
class ReachTest extends HandshakeFixture {

    /** A link that bytes have to cross before it is used. */
    private final class SlowLinks extends DelegatingLinks {
        private LinkRequest requested;
        private LinkReach asking;
        private LinkHalf half;

        SlowLinks() {
            super(clientLinks);
        }

        @Override
        public void request(LaneKind lane, Party server, LinkRequest request) {
            requested = request;
            super.request(lane, server, request);
        }

        @Override
        public void reach(LinkHalf completed, LinkReach reach) {
            asking = reach;
            half = completed;
        }
    }

    private SlowLinks startWithSlowLinks() {
        return startWithSlowLinks(Long.MAX_VALUE);
    }

    private SlowLinks startWithSlowLinks(long nanosLeft) {
        toServer.nanosLeft = nanosLeft;
        SlowLinks slow = new SlowLinks();
        startServer();
        client = new ClientHandshake(clientTerms.build(), slow, toServer, random::nextBytes);
        client.start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF"), said);
        assertTrue(client.isAnswered() && !client.isOver());
        return slow;
    }

    @Test
    void saysGoWhenBytesHaveCrossedTheLink() {
        SlowLinks slow = startWithSlowLinks();
        assertTrue(slow.asking.hasOther());
        assertFalse(slow.asking.isTooLong(ClientHandshake.REACH_NANOS - 1));
        assertTrue(slow.asking.isTooLong(ClientHandshake.REACH_NANOS));
        toServer.nanosLeft = ClientHandshake.REST_NANOS;
        assertFalse(slow.asking.isTooLong(0));
        toServer.nanosLeft--;
        assertTrue(slow.asking.isTooLong(0), "the next lane takes its time, too");
        toServer.nanosLeft = Long.MAX_VALUE;
        assertFalse(slow.asking.isTooLong(0), "it was given more");
        slow.asking.reached();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
    }

    /** The link stays for others: nothing is wrong with it. */
    @Test
    void saysNoGoToAServerThatHasGone() {
        SlowLinks slow = startWithSlowLinks();
        toServer.ended = true;
        slow.asking.reached();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF"), said);
        assertFailed(toServer, HandshakeFailure.CLOSED_BY_PEER,
                "Connection closed by the peer during the handshake, before the client was ready");
        assertTrue(client.isAnswered());
    }

    /** Else of connections that begin together all but the first would take the next lane at once. */
    @Test
    void whoHasLittleTimeWaitsForHalfOfIt() {
        clientTerms.lanes("shm,socket");
        long little = ClientHandshake.REST_NANOS * 5 / 6;
        SlowLinks slow = startWithSlowLinks(little);
        for (Predicate<Long> isTooLong : List.<Predicate<Long>>of(slow.requested::isTooLong, slow.asking::isTooLong)) {
            toServer.nanosLeft = little;
            assertFalse(isTooLong.test(0L));
            toServer.nanosLeft = little / 2;
            assertFalse(isTooLong.test(0L));
            toServer.nanosLeft--;
            assertTrue(isTooLong.test(0L));
        }
        slow.asking.unreachable("nothing crosses it");
        talk();
        assertOpen(LaneKind.SOCKET);
    }

    @Test
    void takesTheSocketIfNothingCrossesTheLink() {
        clientTerms.lanes("shm,socket");
        SlowLinks slow = startWithSlowLinks();
        slow.asking.unreachable("nothing crosses it");
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SOCKET);
        List<String> reasons = List.of("shm: nothing crosses it");
        assertEquals(reasons, toServer.outcome.reasons().subList(0, 1));
        assertEquals(reasons, toClient.outcome.reasons().subList(0, 1));
        assertEquals(0, clientLinks.pinned + serverLinks.pinned);
    }

    @Test
    void failsIfNothingCrossesTheLinkAndTheSocketIsNotAllowed() {
        clientTerms.lanes("shm");
        SlowLinks slow = startWithSlowLinks();
        assertFalse(slow.asking.hasOther());
        assertFalse(slow.asking.isTooLong(ClientHandshake.REACH_NANOS), "it has nothing else to take");
        assertTrue(slow.asking.isTooLong(ClientHandshake.LAST_REACH_NANOS), "the server waits no longer, and says less");
        slow.asking.unreachable("nothing crosses it");
        talk();
        assertRefused(toServer, HandshakeFailure.NO_COMMON_LANE,
                "there is no lane: shm: nothing crosses it; socket: not allowed by both sides");
        assertEquals(0, clientLinks.pinned + serverLinks.pinned);
    }

    @Test
    void givesTheLinkBackIfItEndsBeforeAnythingHasCrossed() {
        SlowLinks slow = startWithSlowLinks();
        client.close();
        assertEquals(0, clientLinks.pinned);
        // Too late, and nobody's matter.
        slow.asking.reached();
        slow.asking.unreachable("nothing crosses it");
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF"), said);
        assertTrue(client.isOver() && slow.half != null);
    }

    @Test
    void hearsARefusalWhileItWaitsForBytesToCross() {
        startWithSlowLinks();
        clientReceives(bytes(new Refuse(Hello.VERSION, HandshakeFailure.CONNECT_FAILED, "too slow").encode()));
        assertTrue(toServer.failure.getMessage().contains("too slow"), toServer.failure::getMessage);
        assertEquals(0, clientLinks.pinned);
    }
}
