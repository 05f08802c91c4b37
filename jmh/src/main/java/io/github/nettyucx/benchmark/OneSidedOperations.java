// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.function.Consumer;
import org.HdrHistogram.AbstractHistogram;

/** Does so many operations on the peer's memory. All of it is for the event loop of the channel. */
final class OneSidedOperations {
    /** Operations under way at a time, but of latency. */
    static final int WINDOW = 64;
    /** What a notification says: a count has the peer begin as many operations and answer when they are done. */
    static final long ANSWER = 0;
    static final long UNANSWERED = -1;
    /** A request's, in bytes; what it says does not matter. */
    static final int REQUEST = 8;
    /** Then the loop has its turn: operations on memory that is attached are done at once, and would leave it none. */
    private static final int MOST_AT_A_TIME = 16_384;
    private static final int MOST_BYTES_AT_A_TIME = 16 * 1024 * 1024;

    private enum State {
        IDLE,
        /** Within {@link #begin}: what is done at once calls back in it. */
        BEGINNING,
        /** On the event loop's list of tasks. */
        SCHEDULED,
        /** For operations that are under way, or for the peer's answer. */
        WAITING
    }

    private final Scenario scenario;
    private final OneSided.Kind kind;
    private final UcxSocketChannel channel;
    private final UcxRemoteMemory remote;
    private final ByteBuf source;
    private final ByteBuf target;
    private final ByteBuf request = Unpooled.directBuffer(REQUEST, REQUEST).writeZero(REQUEST);
    private final UcxCompletion completion = (id, value, cause) -> {
        if (cause != null) {
            end(cause);
        } else {
            done(1);
        }
    };
    private final Runnable begin = this::begin;
    private final int window;
    private final int atATime;
    private State state = State.IDLE;
    private AbstractHistogram histogram;
    private Consumer<Throwable> end;
    private long count;
    private long begun;
    private long done;
    private boolean answerDue;
    private long startedAt;
    /** Of answers to requests. */
    private long received;

    /** @param source what is put; stays the caller's */
    OneSidedOperations(OneSided.Plan plan, UcxSocketChannel channel, UcxRemoteMemory remote, ByteBuf source) {
        scenario = plan.scenario();
        kind = plan.kind();
        this.channel = channel;
        this.remote = remote;
        this.source = source;
        target = new UnpooledByteBufAllocator(true, true).directBuffer(scenario.size(), scenario.size());
        window = scenario.work() == Work.LATENCY ? 1 : WINDOW;
        atATime = Math.clamp(MOST_BYTES_AT_A_TIME / scenario.size(), 1, MOST_AT_A_TIME);
    }

    /**
     * @param durations of latency
     * @param whenDone told why it has failed, or {@code null}
     */
    void start(long number, AbstractHistogram durations, Consumer<Throwable> whenDone) {
        count = number;
        begun = 0;
        done = 0;
        histogram = durations;
        end = whenDone;
        begin();
    }

    /** The same on both sides at the same time. */
    void startBoth(long number, Consumer<Throwable> whenDone) {
        answerDue = true;
        say(number);
        start(number, null, whenDone);
    }

    /** Has the peer notified of nothing but that. */
    void say(long notification) {
        remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, notification, null, 0);
    }

    /** Puts as many bytes as the peer has put. */
    void answer() {
        remote.putAndNotify(0, source.retain(), ANSWER, null, 0);
    }

    /** As many as may be under way. */
    private void begin() {
        state = State.BEGINNING;
        for (var left = atATime; state == State.BEGINNING && begun < count && begun - done < window; left--) {
            if (left == 0) {
                flush();
                state = State.SCHEDULED;
                channel.eventLoop().execute(begin);
                return;
            }
            begun++;
            if (window == 1) {
                startedAt = System.nanoTime();
            }
            beginOne();
        }
        flush();
        if (state == State.BEGINNING) {
            state = State.WAITING;
            endIfDone();
        }
    }

    private void beginOne() {
        switch (kind) {
            case PUT -> put();
            case PUT_AND_NOTIFY -> putAndNotify();
            case GET -> remote.get(0, target, 0, scenario.size(), completion, 0);
            case REQUEST -> channel.write(request.retainedDuplicate(), channel.voidPromise());
            case FETCH_AND_ADD -> remote.fetchAndAdd(0, 1, completion, 0);
            case COMPARE_AND_SWAP -> remote.compareAndSwap(0, 0, 0, completion, 0);
        }
    }

    private void put() {
        if (window == 1) {
            remote.put(0, source.retain(), null, 0);
            remote.flush(completion, 0);
        } else {
            remote.put(0, source.retain(), completion, 0);
        }
    }

    private void putAndNotify() {
        if (window == 1) {
            remote.putAndNotify(0, source.retain(), ANSWER, null, 0);
        } else {
            // The peer has seen all of them when it has seen the last one.
            answerDue |= begun == count;
            remote.putAndNotify(0, source.retain(), begun == count ? ANSWER : UNANSWERED, completion, 0);
        }
    }

    private void flush() {
        if (kind == OneSided.Kind.REQUEST) {
            channel.flush();
        }
    }

    /** The peer has put something with a notification. */
    void answered() {
        if (answerDue) {
            answerDue = false;
            endIfDone();
        } else {
            done(1);
        }
    }

    /** A part of the answers to requests. */
    void received(int bytes) {
        received += bytes;
        var answers = received / scenario.size();
        if (answers > 0) {
            received -= answers * scenario.size();
            done(answers);
        }
    }

    private void done(long number) {
        if (window == 1) {
            Durations.record(histogram, System.nanoTime() - startedAt);
        }
        done += number;
        if (state == State.WAITING) {
            begin();
        }
    }

    private void endIfDone() {
        if (state == State.WAITING && done == count && !answerDue) {
            end(null);
        }
    }

    void end(Throwable cause) {
        if (state != State.IDLE) {
            state = State.IDLE;
            end.accept(cause);
        }
    }

    void close() {
        target.release();
        request.release();
    }
}
