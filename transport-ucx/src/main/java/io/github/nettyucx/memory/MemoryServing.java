// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.worker.EndpointPort;

import java.util.ArrayDeque;

/**
 * The owner's role: executes what a peer asks for, in the order of its requests. Bytes of several puts may arrive at the
 * same time. Whatever else there is, a {@linkplain Job#fence fence}, waits for all that came before it, and bytes of puts
 * wait for it.
 */
final class MemoryServing {

    private static final String MISSING = "the peer did not send the bytes of its put right behind the request";
    private static final String UNEXPECTED = "the peer sent bytes of a put that it has not requested";

    private final MemoryExchange exchange;
    private final EndpointPort port;
    /** Answers, and what the peer is told of revocations. */
    private final Sends answers;
    /** Whether it has been looked in this turn for room: a peer that never has any must not have all looked at each time. */
    private boolean lookedForRoom;
    private final ServedOpenings openings;
    /** In the order of the requests. */
    private final ArrayDeque<Job> jobs = new ArrayDeque<>();
    /** To be used again. */
    private final ArrayDeque<Job> idle = new ArrayDeque<>();
    private final Requests<Job> receiving;
    /** Of the jobs. */
    private int fences;
    /** Which have come, and lie with UCX until what was asked before has been executed. */
    private long keptBytes;
    /** Of puts whose request is still being received. */
    private long earlyBytes;
    private final ArrayDeque<UcxMemoryNotification> notifications = new ArrayDeque<>();

    MemoryServing(MemoryExchange exchange, EndpointPort port, Sends answers) {
        this.exchange = exchange;
        this.port = port;
        this.answers = answers;
        receiving = new Requests<>(port);
        openings = new ServedOpenings(exchange);
    }

    // ------------------------------------------------------------------------------------------- messages

    void requested(int number, long message, long length) throws ProtocolException {
        if (length < MemoryFrame.REQUEST_LENGTH || length > MemoryFrame.MAX_LENGTH) {
            throw exchange.violation(message, "the peer sent a request of " + length + " bytes; expected "
                    + MemoryFrame.REQUEST_LENGTH + " to " + MemoryFrame.MAX_LENGTH);
        }
        if (!hasRoom()) {
            throw exchange.violation(message, "the peer has more than " + MemoryFrame.MAX_UNTAKEN
                    + " requests whose answers it has not taken");
        }
        if (!jobs.isEmpty() && jobs.peekLast().state == Job.State.WAITING) {
            throw exchange.violation(message, MISSING);
        }
        int frame = exchange.frameFor(message);
        Job job = idle.isEmpty() ? new Job() : idle.pollLast();
        job.number = number;
        job.frame = frame;
        job.frameLength = length;
        job.message = 0;
        job.state = Job.State.ARRIVING;
        job.fence = true;
        fences++;
        jobs.addLast(job);
        if (exchange.receive(receiving, job, message, exchange.frames().address(job.frame), length)) {
            parse(job);
            advance();
        }
    }

    /**
     * Whether one more request may be kept. A peer that asks, and takes no answers, would have any number of them kept.
     */
    private boolean hasRoom() {
        if (untaken() < MemoryFrame.MAX_UNTAKEN) {
            return true;
        }
        if (!lookedForRoom) {
            // Messages are taken before it is looked what UCX has completed.
            lookedForRoom = true;
            exchange.pollAnswers();
        }
        return untaken() < MemoryFrame.MAX_UNTAKEN;
    }

    private int untaken() {
        return jobs.size() + answers.count();
    }

    void put(int number, long message, long length) throws ProtocolException {
        Job job = jobs.peekLast();
        boolean expected = job != null && job.number == number
                && (job.state == Job.State.WAITING || job.state == Job.State.ARRIVING && job.message == 0);
        if (!expected) {
            throw exchange.violation(message, UNEXPECTED);
        }
        if (job.state == Job.State.ARRIVING) {
            // For what it is, and for how many bytes, is not known yet; but there is no more memory than this.
            if (length < 0 || length > MemoryFrame.MAX_KEPT - earlyBytes && length > openings.length() - earlyBytes) {
                throw exchange.violation(message, UNEXPECTED);
            }
            job.message = message;
            job.messageLength = length;
            earlyBytes += length;
        } else {
            bytesCame(job, message, length);
            if (job.state == Job.State.KEPT) {
                // Messages are taken before it is looked what UCX has completed: often nothing has to be waited for.
                takeCompleted();
            }
            advance();
        }
    }

    private void bytesCame(Job job, long message, long length) throws ProtocolException {
        if (length != job.length) {
            throw exchange.violation(message, "the peer sent " + length + " bytes for a put of " + job.length);
        }
        boolean isBehindFence = fences > (job.fence ? 1 : 0);
        if (job.refusal == null && isBehindFence) {
            if (keptBytes + length <= Math.max(MemoryFrame.MAX_KEPT, job.opening.region().length())) {
                job.state = Job.State.KEPT;
                job.message = message;
                keptBytes += length;
                return;
            }
            job.refusal = Reason.TOO_MANY;
        }
        receiveBytes(job, message);
    }

    /** Of the first, and of those behind it that no fence is before. */
    private void receiveKept() {
        for (Job job : jobs) {
            if (job.state == Job.State.KEPT) {
                long message = job.message;
                job.message = 0;
                keptBytes -= job.length;
                receiveBytes(job, message);
                if (exchange.end() != null) {
                    // The application has closed the channel, because its memory is gone. There are no jobs any more.
                    return;
                }
            }
            if (job.fence) {
                return;
            }
        }
    }

    private void receiveBytes(Job job, long message) {
        RegionMemory memory = job.refusal == null ? job.opening.region().memory() : null;
        // It stays as long as UCX writes to it, revoked or not.
        if (memory != null && (job.opening.region().isRevoked() || !memory.tryRetain())) {
            job.refusal = Reason.REVOKED;
        }
        if (job.refusal != null) {
            port.discard(message);
            job.state = Job.State.READY;
            return;
        }
        job.state = Job.State.RECEIVING;
        try {
            if (exchange.receive(receiving, job, message, memory.address() + job.offset, job.length)) {
                job.state = Job.State.READY;
            }
        } finally {
            if (job.request == 0) {
                memory.release();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- in flight

    boolean isReceiving() {
        return receiving.count() > 0;
    }

    void poll() throws ProtocolException {
        lookedForRoom = false;
        takeCompleted();
        advance();
    }

    private void takeCompleted() throws ProtocolException {
        receiving.begin();
        for (Job job = receiving.nextCompleted(); job != null; job = receiving.nextCompleted()) {
            int status = receiving.status();
            if (status < 0) {
                exchange.failed(status);
            }
            if (job.state == Job.State.RECEIVING) {
                if (status >= 0) {
                    job.state = Job.State.READY;
                }
                // The application may close the channel when its memory is gone.
                job.opening.region().memory().release();
            } else if (status >= 0) {
                parse(job);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- requests

    private void parse(Job job) throws ProtocolException {
        long frame = exchange.frames().address(job.frame);
        job.kind = MemoryFrame.getByte(frame + MemoryFrame.KIND_AT);
        job.refusal = null;
        job.opening = null;
        job.state = Job.State.READY;
        if (job.message != 0) {
            earlyBytes -= job.messageLength;
        }
        if (job.kind < MemoryFrame.OPEN || job.kind > MemoryFrame.CLOSE) {
            throw new ProtocolException("the peer sent a request of unknown kind " + job.kind);
        }
        if (job.kind == MemoryFrame.OPEN) {
            checkFrameLength(job, MemoryFrame.OPEN_LENGTH);
            if (job.message != 0) {
                throw new ProtocolException(UNEXPECTED);
            }
            return;
        }
        if (job.kind == MemoryFrame.PUT && !isNotifying(frame)) {
            job.fence = false;
            fences--;
        }
        job.opening = openings.find(MemoryFrame.getInt(frame + MemoryFrame.HANDLE_AT));
        job.offset = MemoryFrame.getLong(frame + MemoryFrame.OFFSET_AT);
        job.length = MemoryFrame.getLong(frame + MemoryFrame.LENGTH_AT);
        job.refusal = refusal(job);
        boolean isInline = job.kind == MemoryFrame.PUT && job.length >= 0 && job.length <= MemoryFrame.MAX_INLINE;
        checkFrameLength(job, MemoryFrame.REQUEST_LENGTH + (isInline ? job.length : 0));
        if (job.kind == MemoryFrame.PUT && !isInline) {
            if (job.length < 0) {
                throw new ProtocolException("the peer sent a put of " + job.length + " bytes");
            }
            job.state = Job.State.WAITING;
            if (job.message != 0) {
                long message = job.message;
                job.message = 0;
                bytesCame(job, message, job.messageLength);
            } else if (jobs.peekLast() != job) {
                throw new ProtocolException(MISSING);
            }
        } else if (job.message != 0) {
            throw new ProtocolException(UNEXPECTED);
        }
    }

    private static boolean isNotifying(long frame) {
        return (MemoryFrame.getByte(frame + MemoryFrame.FLAGS_AT) & MemoryFrame.NOTIFYING) != 0;
    }

    private static void checkFrameLength(Job job, long expected) throws ProtocolException {
        if (job.frameLength != expected) {
            throw new ProtocolException("the peer sent " + job.frameLength + " bytes with a request of kind " + job.kind
                    + "; expected " + expected);
        }
    }

    private static Reason refusal(Job job) {
        ServedOpenings.Opening opening = job.opening;
        // There is none if it was closed by the peer itself, or forgotten because it was revoked.
        if (opening == null || opening.region().isRevoked()) {
            return Reason.REVOKED;
        }
        UcxMemoryRight needed = switch (job.kind) {
            case MemoryFrame.GET -> UcxMemoryRight.READ;
            case MemoryFrame.ADD, MemoryFrame.SWAP -> UcxMemoryRight.ATOMIC;
            default -> UcxMemoryRight.WRITE;
        };
        if (job.kind != MemoryFrame.CLOSE && (opening.rights() & needed.bit()) == 0) {
            return Reason.NO_RIGHT;
        }
        long length = needed == UcxMemoryRight.ATOMIC ? Long.BYTES : job.length;
        if (job.offset < 0 || length < 0 || job.offset > opening.region().length() - length) {
            return Reason.OUT_OF_RANGE;
        }
        boolean misaligned = needed == UcxMemoryRight.ATOMIC
                && (opening.region().memory().address() + job.offset) % Long.BYTES != 0;
        return misaligned ? Reason.MISALIGNED : null;
    }

    // ------------------------------------------------------------------------------------------- execution

    /** Executes what has nothing before it; not before answers may be sent. */
    void advance() {
        if (!exchange.isStarted()) {
            return;
        }
        for (Job job = jobs.peekFirst(); job != null; job = jobs.peekFirst()) {
            if (job.state == Job.State.KEPT) {
                receiveKept();
            } else if (job.state == Job.State.READY) {
                jobs.pollFirst();
                fences -= job.fence ? 1 : 0;
                execute(job, exchange.frames().address(job.frame));
                job.opening = null;
                idle.addLast(job);
            } else {
                return;
            }
        }
    }

    private void execute(Job job, long frame) {
        boolean accesses = job.kind >= MemoryFrame.PUT && job.kind <= MemoryFrame.SWAP && !isLargePut(job);
        RegionMemory used = accesses && job.refusal == null ? job.opening.region().memory() : null;
        if (used != null && (job.opening.region().isRevoked() || !used.tryRetain())) {
            // Meanwhile, perhaps by another thread. Of a large put the bytes are there.
            job.refusal = Reason.REVOKED;
            used = null;
        }
        try {
            carryOutOrRefuse(job, frame);
        } finally {
            if (used != null) {
                used.release();
            }
        }
    }

    private void carryOutOrRefuse(Job job, long frame) {
        switch (job.kind) {
            case MemoryFrame.OPEN -> {
                Reason refusal = openings.open(job, frame);
                // The application may have closed the channel meanwhile, when its memory was gone.
                if (refusal != null && exchange.end() == null) {
                    answer(job, frame, refusal.code(), 0);
                }
            }
            case MemoryFrame.CLOSE -> {
                exchange.frames().release(job.frame);
                if (job.opening != null) {
                    openings.close(job.opening);
                }
            }
            case MemoryFrame.NOTIFY -> {
                notifyIfAsked(job, frame);
                exchange.frames().release(job.frame);
            }
            default -> {
                if (job.refusal == null) {
                    carryOut(job, frame);
                } else {
                    answer(job, frame, job.refusal.code(), 0);
                }
            }
        }
    }

    private static boolean isLargePut(Job job) {
        return job.kind == MemoryFrame.PUT && job.length > MemoryFrame.MAX_INLINE;
    }

    /** In the frame that has the request. */
    private void answer(Job job, long frame, int reason, long previous) {
        MemoryFrame.putLong(frame, 0);
        MemoryFrame.putByte(frame + MemoryFrame.REASON_AT, reason);
        MemoryFrame.putLong(frame + MemoryFrame.PREVIOUS_AT, previous);
        exchange.send(Tag.MEMORY_ANSWER, job.number, job.frame, MemoryFrame.ANSWER_LENGTH);
    }

    private void carryOut(Job job, long frame) {
        RegionMemory memory = job.opening.region().memory();
        long address = memory.address() + job.offset;
        switch (job.kind) {
            case MemoryFrame.PUT -> {
                if (!isLargePut(job)) {
                    MemoryFrame.copy(frame + MemoryFrame.REQUEST_LENGTH, address, job.length);
                }
                notifyIfAsked(job, frame);
                exchange.frames().release(job.frame);
                exchange.send(Tag.MEMORY_ANSWER, job.number, 0, 0, -1, null);
            }
            case MemoryFrame.GET -> {
                exchange.frames().release(job.frame);
                memory.retain();
                exchange.send(job.length == 0 ? Tag.MEMORY_ANSWER : Tag.MEMORY_GET, job.number, address, job.length, -1,
                        memory);
            }
            default -> {
                long value = MemoryFrame.getLong(frame + MemoryFrame.VALUE_AT);
                answer(job, frame, 0, job.kind == MemoryFrame.ADD ? RawMemory.getAndAdd(address, value)
                        : RawMemory.compareAndExchange(address, value, MemoryFrame.getLong(frame + MemoryFrame.UPDATE_AT)));
            }
        }
    }

    private void notifyIfAsked(Job job, long frame) {
        if (job.refusal == null && isNotifying(frame)) {
            notifications.addLast(new UcxMemoryNotification(job.opening.region(),
                    MemoryFrame.getLong(frame + MemoryFrame.VALUE_AT), job.offset, job.length));
            exchange.ready();
        }
    }

    // ------------------------------------------------------------------------------------------- the application

    void deliver(MemoryExchange.NotificationListener listener) {
        // Who is told may close the channel, and what is told then comes in between.
        for (int n = notifications.size(); n > 0 && !notifications.isEmpty(); n--) {
            listener.notified(notifications.pollFirst());
        }
        if (!notifications.isEmpty()) {
            exchange.ready();
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** What has come is still told; nothing else is done. */
    void ended() {
        // The reference is the operation's now.
        receiving.abandon(job -> port.abandon(job.request, job.state == Job.State.RECEIVING
                ? job.opening.region().memory() : exchange.frames().retained(job.frame)));
        for (Job job : jobs) {
            if (job.message != 0) {
                port.discard(job.message);
            }
        }
        jobs.clear();
        fences = 0;
        keptBytes = 0;
        earlyBytes = 0;
        idle.clear();
        openings.ended();
    }
}
