// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Links of one event loop without UCX: it keeps to the contract, and notices who does not. */
final class FakeLinks implements Links {

    private record Target(LaneKind lane, Party peer) {
    }

    static final class Half {
        final LaneKind lane;
        final Party peer;
        final boolean accepted;
        final long number;
        final byte[] address;
        long theirs;
        int pins;
        boolean confirmed;
        boolean stale;
        boolean gone;

        private Half(LaneKind lane, Party peer, boolean accepted, long number, byte[] address) {
            this.lane = lane;
            this.peer = peer;
            this.accepted = accepted;
            this.number = number;
            this.address = address;
        }

        boolean isUsable() {
            return confirmed && !stale && !gone;
        }
    }

    /** One pin of a half. */
    final class Pin implements LinkHalf {
        final Half half;
        private boolean used;

        private Pin(Half half) {
            this.half = half;
            half.pins++;
            pinned++;
        }

        @Override
        public long number() {
            assertFalse(used, "the pin was given back before");
            return half.number;
        }

        @Override
        public byte[] address() {
            assertFalse(used, "the pin was given back before");
            return half.address;
        }

        @Override
        public void release() {
            assertFalse(offered(), "a half that was offered is completed or abandoned");
            use();
        }

        private boolean offered() {
            return !half.accepted && !half.confirmed;
        }

        private void use() {
            assertFalse(used, "the pin was given back twice");
            used = true;
            pinned--;
            half.pins--;
            if (half.pins == 0 && (!half.confirmed || half.stale || !keepsIdle.getAsBoolean())) {
                half.gone = true;
            }
        }
    }

    // What a test may change.
    Function<LaneKind, String> acceptFailure = lane -> null;
    Function<LaneKind, String> completeFailure = lane -> null;
    Function<LaneKind, String> reachFailure = lane -> null;
    Function<LaneKind, String> unavailable = lane -> null;
    BooleanSupplier keepsIdle = () -> true;
    /** Has answers to requests run, at once or later. */
    Consumer<Runnable> later = Runnable::run;
    int addressLength = 48;

    // What it has seen.
    final List<Half> halves = new ArrayList<>();
    /** Pins that are out. */
    int pinned;
    int waited;
    int made;
    int completed;
    int abandoned;
    int acceptFailed;
    int completeFailed;
    /** Halves that were found before GO of the connection that made them had come. */
    int found;
    int markedStale;
    int withdrawn;

    private final long engine;
    private final Random random;
    private final Map<Target, Deque<LinkRequest>> waiting = new HashMap<>();
    private final Map<Target, Half> making = new HashMap<>();

    FakeLinks(Party own, Random random) {
        this.engine = own.engine();
        this.random = random;
    }

    /** A link that the two have already. */
    static void join(FakeLinks client, FakeLinks server, LaneKind lane, Party clientParty, Party serverParty) {
        Half one = client.half(lane, serverParty, false);
        Half other = server.half(lane, clientParty, true);
        one.theirs = other.number;
        other.theirs = one.number;
        one.confirmed = true;
        other.confirmed = true;
    }

    private Half half(LaneKind lane, Party peer, boolean accepted) {
        long number;
        do {
            number = random.nextLong();
        } while (number == 0);
        Half half = new Half(lane, peer, accepted, number, address(number));
        halves.add(half);
        return half;
    }

    private byte[] address(long number) {
        byte[] address = new byte[addressLength];
        if (addressLength >= 20) {
            ByteBuf out = Unpooled.wrappedBuffer(address).clear();
            out.writeLong(engine).writeLong(number).setInt(addressLength - 4, checksum(address));
        }
        return address;
    }

    private static int checksum(byte[] address) {
        CRC32 crc = new CRC32();
        crc.update(address, 0, address.length - 4);
        return (int) crc.getValue();
    }

    private static void check(byte[] address, long number) throws LinkException {
        ByteBuf in = Unpooled.wrappedBuffer(address);
        if (address.length < 20 || in.getInt(address.length - 4) != checksum(address) || in.getLong(8) != number) {
            throw new LinkException("that is no address of a worker");
        }
    }

    // -------------------------------------------------------------------------------------- serving

    @Override
    public LinkHalf held(LaneKind lane, Party client) {
        for (Half half : halves) {
            if (half.accepted && half.isUsable() && half.lane == lane && half.peer.equals(client)) {
                return new Pin(half);
            }
        }
        return null;
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
        for (Half half : halves) {
            if (half.accepted && !half.gone && half.lane == lane && half.peer.equals(client) && half.number == own
                    && half.theirs == theirs) {
                found += half.confirmed ? 0 : 1;
                return new Pin(half);
            }
        }
        return null;
    }

    @Override
    public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] address) throws LinkException {
        String failure = acceptFailure.apply(lane);
        try {
            if (failure != null) {
                throw new LinkException(failure);
            }
            check(address, theirs);
        } catch (LinkException e) {
            acceptFailed++;
            throw e;
        }
        Half half = half(lane, client, true);
        half.theirs = theirs;
        return new Pin(half);
    }

    @Override
    public void confirm(LinkHalf pin) {
        Half half = ((Pin) pin).half;
        assertTrue(half.accepted, "only the server confirms");
        assertEquals(half.number, pin.number());
        half.confirmed = true;
    }

    // -------------------------------------------------------------------------------------- connecting

    @Override
    public LinkHalf match(LaneKind lane, Party server, long theirs) {
        for (Half half : halves) {
            if (!half.accepted && half.isUsable() && half.lane == lane && half.peer.equals(server)
                    && half.theirs == theirs) {
                return new Pin(half);
            }
        }
        return null;
    }

    @Override
    public void request(LaneKind lane, Party server, LinkRequest request) {
        Target target = new Target(lane, server);
        waiting.computeIfAbsent(target, key -> new ArrayDeque<>()).add(request);
        if (making.containsKey(target)) {
            waited++;
        }
        later.accept(() -> answer(target));
    }

    private void answer(Target target) {
        Deque<LinkRequest> row = waiting.getOrDefault(target, new ArrayDeque<>());
        while (!row.isEmpty()) {
            Half usable = usable(target);
            String reason = unavailable.apply(target.lane);
            if (usable != null) {
                row.remove().reuse(new Pin(usable), usable.theirs);
            } else if (making.containsKey(target)) {
                return;
            } else if (reason != null) {
                row.remove().unavailable(reason);
            } else {
                Half half = half(target.lane, target.peer, false);
                making.put(target, half);
                made++;
                row.remove().make(new Pin(half));
            }
        }
    }

    private Half usable(Target target) {
        for (Half half : halves) {
            if (!half.accepted && half.isUsable() && half.lane == target.lane && half.peer.equals(target.peer)) {
                return half;
            }
        }
        return null;
    }

    @Override
    public LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException {
        Half half = offered(offered);
        try {
            String failure = completeFailure.apply(half.lane);
            if (failure != null) {
                throw new LinkException(failure);
            }
            check(address, theirs);
        } catch (LinkException e) {
            completeFailed++;
            half.gone = true;
            ((Pin) offered).use();
            answerLater(half);
            throw e;
        }
        half.theirs = theirs;
        half.confirmed = true;
        completed++;
        LinkHalf pin = new Pin(half);
        ((Pin) offered).use();
        answerLater(half);
        return pin;
    }

    /** Those who have waited for it. */
    private void answerLater(Half half) {
        Target target = new Target(half.lane, half.peer);
        later.accept(() -> answer(target));
    }

    @Override
    public void reach(LinkHalf pin, LinkReach asking) {
        Half half = ((Pin) pin).half;
        assertTrue(half.confirmed && !half.accepted, "only what was completed");
        String failure = reachFailure.apply(half.lane);
        later.accept(() -> {
            if (((Pin) pin).used) {
                return;
            }
            if (failure == null) {
                asking.reached();
            } else {
                half.stale = true;
                asking.unreachable(failure);
            }
        });
    }

    @Override
    public void abandon(LinkHalf offered, boolean told) {
        Half half = offered(offered);
        abandoned++;
        half.gone = true;
        ((Pin) offered).use();
        answerLater(half);
    }

    private Half offered(LinkHalf offered) {
        Half half = ((Pin) offered).half;
        Target target = new Target(half.lane, half.peer);
        assertTrue(((Pin) offered).offered() && making.get(target) == half, "it was not offered");
        making.remove(target);
        return half;
    }

    @Override
    public void stale(LinkHalf pin) {
        ((Pin) pin).half.stale = true;
        markedStale++;
        pin.release();
    }

    @Override
    public void withdraw(LinkRequest request) {
        withdrawn++;
        assertTrue(waiting.values().stream().anyMatch(row -> row.remove(request)),
                "there is no such request");
    }

    // -------------------------------------------------------------------------------------- afterwards

    /** Nobody waits, and no pin is out. */
    void assertAtRest() {
        assertEquals(0, pinned, "pins that were never given back");
        assertTrue(waiting.values().stream().allMatch(Deque::isEmpty), "somebody waits for ever");
        assertTrue(making.isEmpty(), "a half is neither completed nor abandoned");
        assertEquals(made, completed + abandoned + completeFailed, "halves that were offered");
        for (Half half : halves) {
            assertTrue(half.gone || half.confirmed, "a half is neither confirmed nor given up");
        }
    }
}
