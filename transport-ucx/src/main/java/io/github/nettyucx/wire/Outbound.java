// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.EndpointPort;
import io.netty.util.ReferenceCounted;

import java.io.IOException;

/**
 * The sending direction of a connection: spends the peer's credit, keeps what UCX has not completed yet, and ends the
 * stream.
 */
public final class Outbound {

    enum State {
        /** The handshake is not over. */
        OPENING,
        /** Messages may be sent. */
        OPEN,
        /** FIN has been sent: nothing may follow. */
        FINISHED,
        /** Nothing can be sent any more. */
        FAILED
    }

    /** Messages with bytes in flight; a power of two. */
    private static final int SLOTS = 16;

    /**
     * Where messages can be lost, the peer is told at least so often how many there have been: it could not tell a loss of as
     * many as the number of a {@link Tag#DATA} can count from none.
     */
    static final int COUNT_EVERY = 512;

    private static final long OK = 0;
    private static final int IN_PROGRESS = 1;

    private final EndpointPort port;
    private final Traffic traffic;
    private State state = State.OPENING;
    private int peerChannelId;
    private int peerWindow;
    private int maxMessage;
    private final boolean counts;
    /** Messages with bytes that have been sent. */
    private int sent;
    /** Those, and messages about memory. */
    private int posted;
    /** How many of them the peer has been told of. */
    private int told;
    /** Bytes, with their messages' charges, that the peer has room for. */
    private int credit;
    /** Somebody waits for credit, which has been counted. */
    private boolean held;
    /** Bytes that the peer has granted again, and that UCX has not completed at once. */
    private long granted;
    private long late;

    // A ring of what is in flight, oldest first: requests complete in any order, but are given back in this one.
    private final long[] requests = new long[SLOTS];
    private final ReferenceCounted[] owners = new ReferenceCounted[SLOTS];
    /** What is to be reported of each, or, where that is nothing, its length below 0. */
    private final int[] flushed = new int[SLOTS];
    private int head;
    private int inFlight;
    /** So many of them, from the oldest on, have completed, and wait to be reported. */
    private int done;
    private int failure;
    /** FIN has been sent, and the peer has not acknowledged it; it may do so even when we cannot send any more. */
    private boolean unacknowledged;
    private boolean closing;
    /**
     * Control messages in flight, by their type: one of each at most. They are not in the ring, where a CREDIT would
     * wait for a rendezvous before it, which completes when the peer reads: two sides that both write and wait for
     * credit before they read would wait for ever.
     */
    private final long[] controls = new long[Tag.COUNT + 1];
    private int controlsInFlight;

    Outbound(EndpointPort port, Traffic traffic) {
        this.port = port;
        this.traffic = traffic;
        counts = port.losesMessages();
    }

    /** What the peer has announced: where to send to, and how much. */
    void open(int peerChannelId, int peerWindow, int peerMaxMessage) {
        assert state == State.OPENING;
        assert Limits.allow(peerWindow, peerMaxMessage) : peerWindow + ", " + peerMaxMessage;
        state = State.OPEN;
        this.peerChannelId = peerChannelId;
        this.peerWindow = peerWindow;
        maxMessage = peerMaxMessage;
        credit = peerWindow;
    }

    // ------------------------------------------------------------------------------------------- data

    /** How many bytes one message may have now; 0 if none may be sent. */
    public int room() {
        if (state != State.OPEN || inFlight == SLOTS) {
            return 0;
        }
        return Math.max(0, Math.min(credit - Limits.MESSAGE_CHARGE, maxMessage));
    }

    /**
     * Whether a piece of {@code room} bytes is worth a message when more than that waits to be sent. The receiver
     * grants in large steps, so waiting for the next grant is better than a trickle of small messages, and cannot be
     * for ever: with less than an eighth of the window left, more than its half is owed.
     */
    public boolean isWorthwhile(int room) {
        return room >= maxMessage || room >= peerWindow / 8;
    }

    /** To be called when something waits to be sent and has to, to count the waits for credit: one for each grant. */
    public void held() {
        if (!held && state == State.OPEN && inFlight < SLOTS) {
            held = true;
            traffic.count(TrafficCounter.CREDIT_WAITS);
        }
    }

    /**
     * Sends bytes of the stream. The caller must have asked for {@link #room()}.
     *
     * @param owner   of the memory; one reference is taken over when the send does not complete at once, and released
     *                when it has, before that is reported
     * @param flushed added to the answer of {@link #completed()} when this message and those before it have completed,
     *                unless {@link #isIdle()} right after the call
     * @param grant   credit to give to the peer along with it, see {@link Inbound#takeGrantForData()}
     * @return whether the reference has been taken over; otherwise UCX needs the memory no more
     */
    public boolean send(long address, int length, ReferenceCounted owner, int flushed, int grant) {
        assert length > 0 && length <= room() : length;
        // Before this one: what UCX has been given must not be forgotten for want of memory.
        countIfDue();
        if (state == State.FAILED) {
            return false;
        }
        credit -= length + Limits.MESSAGE_CHARGE;
        long request = port.send(address, length, Tag.ofData(peerChannelId, sent++, grant));
        traffic.sent(length, request);
        if (request < OK) {
            fail((int) request);
            return false;
        }
        posted++;
        if (request == OK && (inFlight == 0 || flushed == 0)) {
            return false;
        }
        // A message that is done, but not the oldest one, is reported after those before it.
        int slot = head + inFlight & SLOTS - 1;
        requests[slot] = request;
        owners[slot] = request == OK ? null : owner;
        this.flushed[slot] = flushed == 0 ? -length : flushed;
        inFlight++;
        return request != OK;
    }

    /** Whether all the bytes that were sent so far have completed. */
    public boolean isIdle() {
        return inFlight == 0;
    }

    /**
     * Looks which messages have completed, from the oldest on, until one has not: that one is asked for, in every turn,
     * and none behind it.
     *
     * @return whether {@link #completed()} has something to take
     */
    boolean poll() {
        while (done < inFlight && isDone(head + done & SLOTS - 1)) {
            done++;
        }
        return done > 0;
    }

    private boolean isDone(int slot) {
        long request = requests[slot];
        if (request != OK) {
            int status = port.status(request);
            if (status == IN_PROGRESS) {
                return false;
            }
            port.free(request);
            requests[slot] = OK;
            ReferenceCounted owner = owners[slot];
            owners[slot] = null;
            if (status < 0) {
                fail(status);
            } else {
                late += Math.abs(flushed[slot]);
            }
            if (owner != null) {
                owner.release();
                if (inFlight == 0) {
                    // The release of an application's buffer has closed the connection: all has been given up, this one too.
                    return false;
                }
            }
        }
        if (state == State.FAILED) {
            flushed[slot] = 0;
        }
        return true;
    }

    /**
     * Takes the messages off the ring of which the last poll, once in a turn of the loop, has found that they have
     * completed.
     *
     * @return the sum of their {@code flushed}
     */
    public int completed() {
        int sum = 0;
        for (; done > 0; done--) {
            sum += Math.max(0, flushed[head]);
            head = head + 1 & SLOTS - 1;
            inFlight--;
        }
        return sum;
    }

    // ------------------------------------------------------------------------------------------- control

    /** @return whether the peer may grant that much */
    boolean granted(int bytes) {
        if (bytes > peerWindow - credit) {
            return false;
        }
        credit += bytes;
        held = false;
        granted += bytes;
        return true;
    }

    /**
     * Grows as long as the peer takes what is sent to it: by what it grants, and by what leaves this side late. The same bytes may
     * count twice: of the larger of the two alone what the other one adds could not be seen.
     */
    public long moved() {
        return granted + late;
    }

    /** Whether a grant can be sent on its own now; one of these is in flight at a time. */
    boolean canSendCredit() {
        return canSend() && controls[Tag.CREDIT] == OK;
    }

    void sendCredit(int grant) {
        control(Tag.CREDIT, Tag.of(peerChannelId, Tag.CREDIT, grant));
        traffic.count(TrafficCounter.CREDIT_MESSAGES_SENT);
    }

    /** Ends the stream after everything that was sent. */
    public void finish(boolean readsNoMore) {
        if (state == State.OPEN) {
            state = State.FINISHED;
            unacknowledged = true;
            closing = readsNoMore;
            control(Tag.FIN, Tag.ofFin(peerChannelId, sent, readsNoMore));
        }
    }

    void sendFinAck() {
        if (canSend()) {
            control(Tag.FIN_ACK, Tag.of(peerChannelId, Tag.FIN_ACK, 0));
        }
    }

    /** How many {@link Tag#DATA} have been sent. */
    int sent() {
        return sent;
    }

    /** A message about memory has been sent elsewhere. */
    void postedAboutMemory() {
        posted++;
        countIfDue();
    }

    private void countIfDue() {
        if (counts && posted - told >= COUNT_EVERY && canSendCount()) {
            sendCount(false);
        }
    }

    /** How many messages with bytes and about memory have been sent. */
    int posted() {
        return posted;
    }

    /** How many of them the peer has been told of. */
    int told() {
        return told;
    }

    /** Whether the peer can be told how many messages there have been. */
    boolean canSendCount() {
        return canSend() && controls[Tag.COUNT] == OK;
    }

    /** @param isWhole whether UCX has completed all of them */
    void sendCount(boolean isWhole) {
        told = posted;
        control(Tag.COUNT, Tag.ofCount(peerChannelId, posted, isWhole));
    }

    boolean canSend() {
        return state == State.OPEN || state == State.FINISHED;
    }

    private void control(int type, long tag) {
        assert controls[type] == OK : type;
        long request = port.send(0, 0, tag);
        if (request < OK) {
            fail((int) request);
        } else if (request > OK) {
            controls[type] = request;
            controlsInFlight++;
        }
    }

    boolean isControlInFlight() {
        return controlsInFlight > 0;
    }

    /** Gives completed control messages back to UCX. */
    void pollControls() {
        for (int type = 0; controlsInFlight > 0 && type < controls.length; type++) {
            if (controls[type] == OK) {
                continue;
            }
            int status = port.status(controls[type]);
            if (status != IN_PROGRESS) {
                port.free(controls[type]);
                controls[type] = OK;
                controlsInFlight--;
                if (status < 0) {
                    fail(status);
                }
            }
        }
    }

    /** @return whether the peer had something to acknowledge */
    boolean acknowledged() {
        boolean expected = unacknowledged;
        unacknowledged = false;
        return expected;
    }

    // ------------------------------------------------------------------------------------------- ends

    public boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whether the peer has been told that nothing more is written to it, and nothing read. */
    boolean isClosing() {
        return closing;
    }

    /** Whether FIN has been sent, and the peer has acknowledged it. */
    boolean isAcknowledged() {
        return state == State.FINISHED && !unacknowledged;
    }

    /** Whether FIN has been sent, and the peer has not acknowledged it. */
    public boolean isFinishing() {
        return unacknowledged;
    }

    public boolean isFailed() {
        return state == State.FAILED;
    }

    /** UCX's reason of the failure, or 0 if the connection was lost for another one. */
    public int failure() {
        return failure;
    }

    /** Why nothing can be sent any more, for who has tried to. */
    public IOException problem() {
        return failure == OK ? new IOException("Broken pipe: the peer has closed the connection")
                : EndpointFailure.of(failure);
    }

    void fail(int status) {
        if (state != State.FAILED) {
            state = State.FAILED;
            failure = status;
        }
    }

    /** Leaves what is in flight to the worker, which keeps the memory until UCX has completed it. */
    void abandon() {
        for (; inFlight > 0; inFlight--) {
            if (requests[head] != OK) {
                port.abandon(requests[head], owners[head]);
            }
            owners[head] = null;
            requests[head] = OK;
            head = head + 1 & SLOTS - 1;
        }
        done = 0;
        for (int type = 0; type < controls.length; type++) {
            if (controls[type] != OK) {
                port.abandon(controls[type], null);
                controls[type] = OK;
            }
        }
        controlsInFlight = 0;
        fail(0);
    }
}
