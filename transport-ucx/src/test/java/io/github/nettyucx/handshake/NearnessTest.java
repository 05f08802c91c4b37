// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** That two processes are on one host is not only said. */
class NearnessTest extends HandshakeFixture {

    private interface Look {
        boolean at(byte[] digest) throws IOException;
    }

    /** Of one that shows and looks in its own ways. */
    private static Nearness near(Function<byte[], Nearness.Sign> shows, Look looks) {
        return new Nearness() {
            @Override
            public Sign show(byte[] digest) {
                return shows.apply(digest);
            }

            @Override
            public boolean isShown(byte[] digest) throws IOException {
                return looks.at(digest);
            }
        };
    }

    /** The client's. */
    private void assertNothingIsMadeOfItsAddress() {
        assertOpen(LaneKind.SOCKET);
        assertEquals(List.of("shm: the client has not shown that it is on this host"), toServer.outcome.reasons());
        assertEquals(List.of(), serverLinks.halves, "something was made of the client's address");
    }

    @Test
    void sharesNoMemoryWithAClientThatIsElsewhere() {
        clientTerms.near(new FakeNearness());
        clientTerms.lanes("shm,socket");
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertNothingIsMadeOfItsAddress();
        assertEquals(0, host.left(), "the server tells nobody who is elsewhere that it is here");
    }

    @Test
    void sharesNoMemoryWithAServerThatIsElsewhere() {
        // It sees what the client shows, as one that has an accomplice there does.
        FakeNearness elsewhere = new FakeNearness();
        serverTerms.near(near(elsewhere::show, host::isShown));
        start();
        talk();
        assertOpen(LaneKind.RDMA);
        assertEquals(List.of("shm: the server has not shown that it is on this host"), toServer.outcome.reasons());
        elsewhere.assertAtRest();
    }

    /** As the page about the protocol says. */
    @Test
    void aSignIsOfTheOthersNumberAndOfTheAddressThatIsSent() throws Exception {
        start();
        talkUntil("HALF");
        byte[] offer = toServer.sent.get(1);
        byte[] half = toClient.sent.get(1);
        assertEquals(List.of(sha256(nonce(toClient), part(offer, 56, offer.length - 56)),
                sha256(nonce(toServer), part(half, 16, half.length - 16))), host.shown());
    }

    private static byte[] nonce(Recorder said) {
        return part(said.sent.getFirst(), 80, 32);
    }

    private static String sha256(byte[] first, byte[] second) throws NoSuchAlgorithmException {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return hex(MessageDigest.getInstance("SHA-256").digest(both));
    }

    /**
     * Somebody elsewhere has a process of this host leave its sign with the number that he has got from a server here, and offers
     * memory of his own.
     */
    @Test
    void aSignOfOneProcessIsNoneForTheMemoryOfAnother() {
        FakeNearness elsewhere = new FakeNearness();
        clientTerms.near(near(own -> host.show(Nearness.digest(nonce(toClient), ascii("a worker of the victim"))),
                elsewhere::isShown));
        clientTerms.lanes("shm,socket");
        start();
        talk();
        assertNothingIsMadeOfItsAddress();
        host.assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({
        "true, the client could not show that it is on this host",
        "false, the server could not show that it is on this host"
    })
    void takesTheNextLaneIfItCannotBeShown(boolean byClient, String reason) {
        FakeNearness full = new FakeNearness();
        full.fill();
        (byClient ? clientTerms : serverTerms).near(near(full::show, host::isShown));
        start();
        talk();
        assertOpen(LaneKind.RDMA);
        assertEquals(List.of("shm: " + reason), toServer.outcome.reasons());
    }

    @Test
    void saysThatItCannotTell() {
        serverTerms.near(near(digest -> {
            throw new AssertionError("the lane is not to be had");
        }, digest -> {
            throw new IOException("too many open files");
        }));
        start();
        talk();
        assertOpen(LaneKind.RDMA);
        assertEquals(List.of("shm: the server cannot tell whether the client is on this host: too many open files"),
                toServer.outcome.reasons());
    }

    @Test
    void showsNothingForALinkThatIsThere() {
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        start();
        talk();
        assertOpen(LaneKind.SHM);
        assertEquals(0, host.left());
    }

    @Test
    void showsItsNearnessNoLongerThanItIsLookedFor() {
        start();
        talkUntil("HALF");
        assertEquals(2, host.left());
        talkUntil("GO");
        server.close();
        client.close();
        host.assertAtRest();
    }
}
