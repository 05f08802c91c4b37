// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Uses a connection, and its control socket, as a channel does: acts when it has been told that there is something to
 * do, never otherwise, so that a notification that is missing is a run that stops.
 */
final class Application implements ConnectionListener {

    private enum Phase {
        OPENING, ACTIVE, LINGERING, CLOSED
    }

    private final FakeLink link;
    private final Dice dice;
    private final FakePort port;
    private final ProtocolWatch watch;
    private final Announced own;
    private final Announced peers;
    private final ApplicationPlan plan;
    private final Connection connection;
    private final FakeSocket socket = new FakeSocket();
    private final StreamPattern ownStream;
    private final StreamPattern peerStream;
    private final ApplicationMemory memory;
    private final Deque<Runnable> ready = new ArrayDeque<>();
    private Phase phase = Phase.OPENING;
    private boolean opened;
    private boolean early;
    private boolean endedBySocket;
    private IOException failure;
    private boolean acknowledged;
    private Application peer;
    private boolean trusting = true;

    private int burstsLeft;
    private int pausesLeft;

    private long flushed;
    private long sent;
    private long done;
    private int unremoved;
    private boolean waiting;
    private boolean outputScheduled;
    private boolean finished;

    private boolean autoRead;
    private boolean readPending;
    private boolean inputScheduled;
    private boolean inputShutdown;
    private boolean ended;
    private long received;

    /** @param stream which bytes it sends; those of its peer are another */
    Application(FakeLink link, FakePort port, Announced own, Announced peers, ApplicationPlan plan, int stream,
                int peersStream) {
        this.link = link;
        this.dice = link.dice;
        this.port = port;
        this.own = own;
        this.peers = peers;
        this.plan = plan;
        watch = new ProtocolWatch(own.window(), own.maxMessage());
        port.watch(own.channelId(), watch);
        ownStream = new StreamPattern(stream);
        peerStream = new StreamPattern(peersStream);
        memory = new ApplicationMemory(link, own.window(), plan.memoryFailures());
        connection = new Connection(port, own.channelId(), own.window(), own.maxMessage(), this, memory::stash,
                Traffic.ofConnection());
        port.join(connection);
        burstsLeft = plan.bursts();
        pausesLeft = plan.pauses();
        autoRead = pausesLeft == 0 || dice.chance(50);
    }

    /** The other end. This one is told the last but one word of the handshake. */
    void connectTo(Application server) {
        peer = server;
        server.peer = this;
        watch.watchWith(server.watch);
        server.watch.watchWith(watch);
        link.add(socket, server.socket);
        server.socket.say(FakeSocket.Word.OPEN);
    }

    /** The peer will break the protocol, so that it does not matter what it sends. */
    void trustsNobody() {
        trusting = false;
        watch.looksAway();
    }

    ProtocolWatch watch() {
        return watch;
    }

    // ------------------------------------------------------------------------------------------- what it is told

    private void assertTold(String what) {
        assertTrue(phase != Phase.CLOSED, () -> what + " after the close");
        assertNull(failure, () -> what + " after the failure");
        trace(() -> what);
    }

    @Override
    public void connectionFailed(IOException cause) {
        assertTold("failed: " + cause);
        assertNotNull(cause.getMessage());
        failure = cause;
        if (phase == Phase.OPENING) {
            ready.add(this::close);
        } else {
            scheduleOutput();
            scheduleInput();
        }
    }

    @Override
    public void inputReady() {
        assertTold("input is ready");
        early |= phase == Phase.OPENING;
        if (readPending || failure != null) {
            scheduleInput();
        }
    }

    @Override
    public void outputReady() {
        assertTold("output is ready");
        if (waiting || !connection.outbound().isIdle()) {
            scheduleOutput();
        }
    }

    @Override
    public void outputAcknowledged() {
        assertTold("output is acknowledged");
        assertFalse(acknowledged, "acknowledged twice");
        acknowledged = true;
        if (phase == Phase.LINGERING) {
            scheduleOutput();
        }
    }

    // ------------------------------------------------------------------------------------------- its turn

    private void trace(Supplier<String> event) {
        port.trace(() -> own.channelId() + " " + event.get());
    }

    /** To be called when the loop has polled the port. @return whether there was anything to do */
    boolean turn() {
        boolean work = hear();
        for (int n = ready.size(); n > 0; n--) {
            work = true;
            ready.poll().run();
        }
        return work;
    }

    /** @return whether the control socket has said something that could be dealt with */
    private boolean hear() {
        FakeSocket.Word word = socket.peek();
        if (word == FakeSocket.Word.OPEN) {
            socket.take();
            if (phase == Phase.OPENING) {
                open();
            }
            return true;
        }
        // What came before the end, over the link, has to be delivered before it.
        if (word == FakeSocket.Word.END && port.isDrained()) {
            socket.take();
            trace(() -> "hears that the peer is gone");
            boolean wasOpen = connection.isOpen();
            connection.peerGone(new SocketException("Connection reset by peer"));
            assertFalse(connection.isOpen());
            endedBySocket |= wasOpen && failure == null;
            return true;
        }
        return false;
    }

    private void open() {
        connection.open(peers.channelId(), peers.window(), peers.maxMessage());
        if (!connection.isOpen()) {
            // It has been lost, and has said so.
            return;
        }
        trace(() -> "is open");
        phase = Phase.ACTIVE;
        opened = true;
        if (!peer.opened) {
            socket.say(FakeSocket.Word.OPEN);
        }
        if (autoRead) {
            beginRead();
        }
    }

    /** Does one of the things that it does unasked. @return whether there was one left */
    boolean act() {
        if (phase != Phase.ACTIVE) {
            return false;
        }
        if (ended && !connection.isOpen()) {
            close();
            return true;
        }
        if (pausesLeft > 0 && dice.chance(50)) {
            pausesLeft--;
            setAutoRead(!autoRead || pausesLeft == 0);
            return true;
        }
        if (burstsLeft > 0) {
            burstsLeft--;
            flushed = burstsLeft == 0 ? plan.bytes()
                    : Math.min(plan.bytes(), flushed + dice.between(1, (int) (plan.bytes() / plan.bursts()) + 1));
            write();
            continueWriting();
            return true;
        }
        if (pausesLeft > 0) {
            pausesLeft--;
            setAutoRead(!autoRead || pausesLeft == 0);
            return true;
        }
        return false;
    }

    // ------------------------------------------------------------------------------------------- writing

    private void scheduleOutput() {
        if (!outputScheduled) {
            outputScheduled = true;
            ready.add(this::runOutput);
        }
    }

    private void runOutput() {
        outputScheduled = false;
        if (phase != Phase.ACTIVE && phase != Phase.LINGERING) {
            return;
        }
        removeCompleted();
        if (phase == Phase.LINGERING || done < flushed) {
            write();
        }
        continueWriting();
    }

    private void removeCompleted() {
        int completed = connection.outbound().completed();
        done += completed;
        unremoved -= completed;
        assertTrue(unremoved >= 0, "more has completed than was sent");
    }

    private void write() {
        boolean more = writeSome();
        waiting = done < flushed;
        connection.settle();
        if (more) {
            scheduleOutput();
        }
    }

    private boolean writeSome() {
        Outbound outbound = connection.outbound();
        for (int spins = dice.between(1, 16); spins > 0; spins--) {
            removeCompleted();
            if (sent == flushed || !connection.isOpen() || outbound.isFailed()) {
                return false;
            }
            int room = outbound.room();
            long rest = flushed - sent;
            if (room == 0 || !outbound.isWorthwhile(room) && rest > room) {
                return false;
            }
            send(outbound, (int) Math.min(rest, Math.min(room, dice.between(1, plan.largestPiece()))));
        }
        return true;
    }

    private void send(Outbound outbound, int length) {
        ByteBuf bytes = link.memory.allocate(length);
        ownStream.write(bytes, sent, length);
        boolean copied = dice.chance(plan.copyPercent());
        int flushedWith = copied && unremoved == 0 ? 0 : length;
        boolean taken = outbound.send(TrackedMemory.addressOf(bytes), length, bytes, flushedWith,
                connection.inbound().takeGrantForData());
        if (!taken) {
            bytes.release();
        }
        if (outbound.isFailed()) {
            return;
        }
        sent += length;
        if (flushedWith == 0 || !copied && outbound.isIdle()) {
            done += length;
        } else {
            unremoved += length;
        }
    }

    private void continueWriting() {
        if (phase == Phase.LINGERING) {
            linger();
        } else if (phase == Phase.ACTIVE && burstsLeft == 0 && done == flushed && !finished && connection.isOpen()) {
            if (plan.closesUnread() || plan.closesWhenDone() && ended) {
                startLinger();
            } else {
                finish(false);
            }
        }
    }

    private void finish(boolean readsNoMore) {
        finished = true;
        connection.outbound().finish(readsNoMore);
        connection.settle();
    }

    // ------------------------------------------------------------------------------------------- reading

    private void setAutoRead(boolean on) {
        autoRead = on;
        trace(() -> on ? "goes on reading" : "pauses");
        if (on) {
            beginRead();
        } else {
            readPending = false;
            connection.wanted(false);
        }
    }

    private void beginRead() {
        readPending = true;
        connection.wanted(true);
        Inbound inbound = connection.inbound();
        if (inbound.isReadable() || failure != null || inbound.isAtEnd() && !ended) {
            scheduleInput();
        }
    }

    private void scheduleInput() {
        if (!inputScheduled) {
            inputScheduled = true;
            ready.add(this::runInput);
        }
    }

    private void runInput() {
        inputScheduled = false;
        if (phase != Phase.ACTIVE) {
            return;
        }
        Inbound inbound = connection.inbound();
        if (failure != null) {
            while (inbound.isReadable()) {
                read();
            }
            long deliverable = watch.deliverableBytes(link.weather.inlinePercent() == 100 && plan.memoryFailures() == 0
                    && !link.hasFailedOperation());
            assertTrue(inputShutdown || !trusting || received >= deliverable, () -> "only " + received + " of the "
                    + deliverable + " bytes that lie in memory could be read");
            close();
            return;
        }
        if (!readPending) {
            return;
        }
        if (inbound.isReadable()) {
            for (int n = dice.between(1, plan.readsPerTurn()); n > 0 && inbound.isReadable(); n--) {
                if (!read()) {
                    break;
                }
            }
            readPending = autoRead;
            connection.wanted(readPending);
            connection.settle();
            if (readPending && (inbound.isReadable() || inbound.isAtEnd())) {
                scheduleInput();
            }
        } else if (inbound.isAtEnd()) {
            end();
        }
    }

    private boolean read() {
        // Reads of single bytes shall not take all the time when there are very many.
        int limit = received > 4096 ? 2000 : plan.readLimit();
        ByteBuf buffer = connection.read(dice.between(1, limit), memory::forReading);
        if (buffer == null) {
            return false;
        }
        assertTrue(buffer.isReadable(), "read nothing");
        if (trusting) {
            peerStream.check(buffer, received);
        }
        received += buffer.readableBytes();
        buffer.release();
        return true;
    }

    private void end() {
        if (!ended) {
            trace(() -> "end of input after " + received + " bytes");
            if (trusting && !inputShutdown) {
                assertTrue(peer.watch.hasSentFin(), "ended without a FIN");
                assertEquals(peer.sent, received, "ended too early");
            }
            ended = true;
            readPending = false;
            if (finished && plan.closesWhenDone() && acknowledged) {
                close();
            } else if (burstsLeft == 0 && done == flushed && plan.closesWhenDone() && !finished) {
                startLinger();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- closing

    /** A close that delivers what was written before it. */
    void startLinger() {
        if (phase != Phase.ACTIVE || !connection.isOpen() || !connection.inbound().peerReads()) {
            close();
            return;
        }
        trace(() -> "lingers");
        phase = Phase.LINGERING;
        burstsLeft = 0;
        discardInput();
        scheduleOutput();
    }

    /** Reads no more, but goes on writing. */
    void discardInput() {
        if (phase == Phase.ACTIVE || phase == Phase.LINGERING) {
            inputShutdown = true;
            watch.discards();
            connection.discardInput();
        }
    }

    private void linger() {
        if (connection.isOpen() && done == flushed && !finished) {
            finish(true);
        }
        Outbound outbound = connection.outbound();
        boolean everythingArrived = !outbound.isOpen() && !outbound.isFinishing() && outbound.isIdle();
        if (!connection.isOpen() || !connection.inbound().peerReads() || everythingArrived) {
            close();
        }
    }

    /** Gives everything back, at once. */
    void close() {
        if (phase != Phase.CLOSED) {
            trace(() -> "closes after " + received + " bytes in, " + done + " bytes out");
            phase = Phase.CLOSED;
            connection.close();
            socket.close();
            port.leave(connection);
            connection.close();
        }
    }

    // ------------------------------------------------------------------------------------------- what came of it

    boolean isClosed() {
        return phase == Phase.CLOSED;
    }

    boolean isLingering() {
        return phase == Phase.LINGERING;
    }

    FakePort port() {
        return port;
    }

    Announced announced() {
        return own;
    }

    FakeSocket socket() {
        return socket;
    }

    /** Whether the operation that has failed without its endpoint is one that the connection cannot do without. */
    boolean hasFailedOperation() {
        FakeRequest failed = link.failedOperation();
        return failed != null && failed.port == port && !(failed instanceof FakePort.Drop)
                && failed.isBetween(own.channelId(), peers.channelId());
    }

    boolean isActive() {
        return phase == Phase.ACTIVE;
    }

    boolean isOpened() {
        return opened;
    }

    /** Whether messages came before it was open. */
    boolean wasEarly() {
        return early;
    }

    /** Whether it ended in order because its control socket did. */
    boolean hasEndedBySocket() {
        return endedBySocket;
    }

    IOException failure() {
        return failure;
    }

    boolean hasEnded() {
        return ended;
    }

    boolean isAcknowledged() {
        return acknowledged;
    }

    boolean isInputShutdown() {
        return inputShutdown;
    }

    long received() {
        return received;
    }

    long flushed() {
        return flushed;
    }

    void assertDone() {
        assertEquals(plan.bytes(), done, this + " has not written everything");
    }

    Connection connection() {
        return connection;
    }

    @Override
    public String toString() {
        return port.name() + own.channelId();
    }
}
