// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.ClientHandshake;
import io.github.nettyucx.handshake.Handshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.handshake.ServerHandshake;
import io.github.nettyucx.handshake.Terms;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.StreamEnd;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One side of a connection of a {@link LinkWorld}: what a channel would do, and its end of the control socket. */
final class LinkEnd implements Handshake.Owner, StreamEnd, LaneListener {

    private static final int LARGE_WINDOW = 64 * 1024;
    private static final int SMALL_WINDOW = 4 * 1024;
    private static final int LINK_REQUESTS = 3;
    private static final int ALL_LANES = 0xf;
    private static final int UCX = 1 << 24 | 22 << 16;
    private static final InetSocketAddress CLIENT = new InetSocketAddress("127.0.0.1", 40_000);
    private static final InetSocketAddress SERVER = new InetSocketAddress("127.0.0.1", 8_080);

    final LinkLoop loop;
    final int channelId;
    private final LinkWorld world;
    private final boolean isClient;
    private final ConnectionLimits limits;
    private LinkEnd other;

    /** Said on the control socket, and not taken by the other side. */
    private final ByteBuf wire = Unpooled.buffer();
    private final ByteBuf in = Unpooled.buffer();
    private boolean ended;
    private boolean reset;

    private Handshake handshake;
    private ServingLinks serving;
    private Outcome outcome;
    private LinkLane lane;
    private LinkStream stream;
    private boolean reading;
    private boolean flushing;
    private boolean finishing;
    private boolean endNoticed;
    /** The end of the control socket, or of the link. */
    private boolean told;
    /** The peer's end of stream had arrived when the control socket's end was noticed. */
    private boolean finHadArrived;
    private boolean endDelivered;
    private boolean closed;

    LinkEnd(LinkWorld world, LinkLoop loop, boolean isClient, int channelId) {
        this.world = world;
        this.loop = loop;
        this.isClient = isClient;
        this.channelId = channelId;
        int window = world.oneIn(3) ? SMALL_WINDOW : LARGE_WINDOW;
        limits = new ConnectionLimits(channelId, window, window);
    }

    void start(LinkEnd peer, LaneSet lanes) {
        other = peer;
        Terms terms = new Terms(lanes, ALL_LANES, Map.of(), UCX, loop.party, null, false, channelId, limits.window(), limits.maxMessage(),
                isClient ? CLIENT : SERVER, isClient ? SERVER : CLIENT, world.host);
        if (isClient) {
            ClientHandshake client = new ClientHandshake(terms, loop.links, this, world.random::nextBytes);
            handshake = client;
            client.start();
        } else {
            serving = new ServingLinks(loop.links, this::newLane);
            serving.limits(limits);
            handshake = new ServerHandshake(() -> terms, serving, this, world.random::nextBytes);
        }
    }

    private LinkLane newLane(LaneKind kind, OwnHalf half, ConnectionLimits announced) {
        return new LinkLane(kind, half, this, announced, loop.memory.sendBuffers, ScriptedLinks.PIPES, loop.memory::allocate,
                Traffic.ofConnection());
    }

    // ------------------------------------------------------------------------------------------- the handshake

    @Override
    public void send(ByteBuf frame) {
        assertFalse(closed || outcome != null, "says something after the end of its handshake");
        world.said(frame, isClient);
        wire.writeBytes(frame);
        frame.release();
        if (world.oneIn(300)) {
            close(world.random.nextBoolean());
        }
    }

    @Override
    public void opened(Outcome result) {
        assertFalse(closed, "opened after it was closed");
        outcome = result;
        // A client asks so often for a link, and each of those that it is to reuse may have gone just before.
        assertTrue(world.lostHalves() >= LINK_REQUESTS
                || result.reasons().stream().noneMatch(reason -> reason.contains("any more")), "a half is not found");
        if (isClient && result.reasons().stream().anyMatch(reason -> reason.contains("crossed"))) {
            world.see(LinkWorld.Sight.UNREACHED);
        }
        if (result.lane() != LaneKind.SOCKET) {
            if (isClient) {
                lane = newLane(result.lane(), (OwnHalf) result.link(), limits);
                lane.open(result.peer());
            } else {
                lane = (LinkLane) serving.take(result.lane(), result.link(), result.peer());
                // The client is the first to open, if it has not given up when it had said GO.
                if (other.outcome != null) {
                    assertSame(((OwnHalf) other.outcome.link()).endpoint(), endpoint().counterpart(),
                            "UCX takes other endpoints for the two of a link");
                }
                world.see(lane.isInputFinished() ? LinkWorld.Sight.EARLY_MESSAGE : LinkWorld.Sight.SERVED);
            }
            checkUse();
            stream = new LinkStream(world, loop.memory, channelId, lane);
            lane.listener(this);
            inputReady();
        }
        if (serving != null) {
            serving.close();
        }
        if (world.oneIn(4)) {
            finish();
        }
        world.applicationRuns(loop);
    }

    @Override
    public void failed(HandshakeException cause) {
        assertFalse(closed, "failed after it was closed");
        close(false);
        world.applicationRuns(loop);
    }

    // ------------------------------------------------------------------------------------------- the control socket

    @Override
    public int peek() {
        return other.wire.isReadable() ? 1 : !other.ended ? -Errno.EAGAIN : other.reset ? -Errno.ECONNRESET : 0;
    }

    @Override
    public void shutdownOutput() {
        ended();
    }

    @Override
    public void resetOnClose() {
        reset = true;
    }

    /** Takes a part of what is there, or notices its end. @return whether there was anything */
    boolean take() {
        if (closed || loop.isDead()) {
            return false;
        }
        if (handshake.isOver()) {
            return takeEnd() || stream != null && stream.waits(other.stream);
        }
        if (other.wire.isReadable()) {
            int length = other.wire.readableBytes();
            in.discardReadBytes().writeBytes(other.wire, world.oneIn(4) ? 1 + world.random.nextInt(length) : length);
            handshake.received(in);
        } else if (other.ended) {
            close(false);
        } else {
            return false;
        }
        return true;
    }

    private boolean takeEnd() {
        if (lane == null || endNoticed || !other.ended) {
            return false;
        }
        endNoticed = true;
        finHadArrived = other.finishing && (lane.isInputFinished() || endpoint().hasEndFor(channelId));
        lane.socketReady(0);
        return true;
    }

    // ------------------------------------------------------------------------------------------- the lane

    @Override
    public void inputReady() {
        if (lane == null) {
            return;
        }
        if (lane.isInputFinished()) {
            endDelivered = true;
            if (world.oneIn(2)) {
                loop.later(this::finish);
            }
        }
        if (!reading) {
            reading = true;
            loop.later(this::read);
        }
    }

    private void read() {
        reading = false;
        if (!closed) {
            stream.read(other.stream);
        }
    }

    @Override
    public void outputReady() {
        if (!flushing) {
            flushing = true;
            loop.later(this::flush);
        }
    }

    private void flush() {
        flushing = false;
        if (!closed && stream != null) {
            stream.flush();
        }
    }

    void write() {
        if (isUsing() && !finishing) {
            stream.write();
        }
    }

    @Override
    public void endAcknowledged() {
        if (world.oneIn(2)) {
            loop.later(() -> close(false));
        }
    }

    @Override
    public void lost(IOException cause) {
        assertFalse(told, "told twice");
        told = true;
        assertTrue(endNoticed || !endpoint().isOpen(), () -> "lost without a reason: " + cause);
        if (endNoticed && finHadArrived) {
            assertTrue(endDelivered, "the end was told before what had arrived");
        }
        loop.later(() -> close(false));
        world.applicationRuns(loop);
    }

    /** Ends its stream, with a message. */
    void finish() {
        if (isUsing() && !finishing) {
            finishing = true;
            stream.finish();
        }
    }

    private FakeEndpoint endpoint() {
        return (FakeEndpoint) lane.half().endpoint();
    }

    boolean isConnecting() {
        return !handshake.isOver();
    }

    boolean isUsing() {
        return lane != null && !closed && !loop.isDead() && lane.isOpen();
    }

    /** It uses a half: nobody has closed that, nor its counterpart unless the control socket tells so. */
    void checkUse() {
        FakeEndpoint own = endpoint();
        assertFalse(own.isClosed(), "a half is used after it was closed");
        FakeEndpoint counterpart = own.counterpart();
        assertNotNull(counterpart, "a half is used without the other one");
        if (counterpart.isClosed()) {
            assertTrue(other.ended, "a half is used after its counterpart was closed");
            assertFalse(told, "a half is used after its user was told of the end");
            world.see(LinkWorld.Sight.NOT_TOLD_YET);
        }
    }

    /** Sends to the other side of its connection. */
    void checkSend(FakeEndpoint over) {
        if (lane != null) {
            assertSame(endpoint(), over, "a channel sends over the link of another");
            checkUse();
        }
    }

    LinkEnd other() {
        return other;
    }

    // ------------------------------------------------------------------------------------------- the end

    void close(boolean resets) {
        if (closed || loop.isDead()) {
            return;
        }
        closed = true;
        handshake.close();
        if (serving != null) {
            serving.close();
        }
        if (lane != null) {
            lane.close(resets);
        }
        if (stream != null) {
            stream.close();
        }
        reset |= resets;
        ended();
    }

    /** The kernel closes the socket of a process that has gone. */
    void cut() {
        reset = true;
        ended();
    }

    /** What its process had, when that is dead. */
    void reclaim() {
        if (!closed) {
            if (serving != null) {
                serving.close();
            }
            if (lane != null) {
                lane.close(false);
            }
            if (stream != null) {
                stream.close();
            }
        }
    }

    private void ended() {
        ended = true;
        if (reset && world.random.nextBoolean()) {
            wire.clear();
        }
    }

    boolean isClosed() {
        return closed;
    }

    boolean hangs() {
        return !loop.isDead() && !handshake.isOver();
    }

    /** Nothing more happens to it by itself. */
    void assertAnswered() {
        assertFalse(hangs(), "a handshake hangs");
    }

    /** Both are open, and nothing has happened to their link. */
    void assertFinishTold() {
        if (isUsing() && other.isUsing() && endpoint().isOpen() && other.endpoint().isOpen()) {
            assertTrue(other.lane.isInputFinished() == finishing, "an end of stream got lost");
            assertTrue(!finishing || lane.isEndDelivered(), "an end of stream is not acknowledged");
            stream.assertRead(other.stream);
        }
    }
}
