// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An endpoint whose messages a test sees and makes. Operations complete at once, or when the test says so. */
final class FakePort implements EndpointPort {

    static final int CHANNEL_ID = 7;
    /** The type of the messages that tell how many there have been. */
    static final int COUNT = 10;

    /** A message that was sent. */
    record Sent(int type, int value, byte[] bytes) {
    }

    private record Waiting(byte[] message, long address, ReferenceCounted[] owner) {
    }

    final List<Sent> sent = new ArrayList<>();
    /** What each {@link #COUNT} has told, which UCX takes at once. */
    final List<Integer> counts = new ArrayList<>();
    boolean deferring;
    /** What is sent completes when the test says so; what is received is not concerned. */
    boolean deferringSends;
    /** UCX fails whatever is to be sent. */
    boolean refusing;
    /** The next message that somebody receives finds the heap exhausted. */
    boolean noMemoryToReceive;
    /** Whatever is to be sent does. */
    boolean noMemoryToSend;
    /** Who wants to look every second does. */
    boolean noMemoryToWatch;
    private int abandoned;
    private final Map<Long, byte[]> messages = new HashMap<>();
    private final Map<Long, Waiting> running = new HashMap<>();
    private final Map<Long, Boolean> done = new HashMap<>();
    private long last;
    private MessageSink sink;
    private InFlight tracked;
    private EverySecond watching;
    /** How often somebody has looked whether an operation has completed. */
    int asked;
    private int unreceived;

    void deliver(int type, int value, byte... bytes) {
        long message = ++last;
        messages.put(message, bytes);
        unreceived++;
        try {
            sink.onMessage(Tag.of(CHANNEL_ID, type, value), message, bytes.length);
        } catch (OutOfMemoryError e) {
            // As the worker has it.
            noMemoryToReceive = false;
            sink.onMessageThrew(e);
            if (messages.containsKey(message)) {
                receive(message, 0, 0);
            }
        }
    }

    /** UCX completes what it has been told to receive and to send. */
    void completeAll() {
        completeLast(running.size());
    }

    /** The same, of those that were begun last. */
    void completeLast(int count) {
        running.keySet().stream().sorted(Comparator.reverseOrder()).limit(count).toList().forEach(request -> {
            Waiting waiting = running.remove(request);
            if (waiting.message != null) {
                write(waiting.message, waiting.address);
            }
            if (waiting.owner[0] != null) {
                waiting.owner[0].release();
            }
            done.put(request, true);
        });
    }

    void turn() {
        if (tracked != null && !tracked.poll()) {
            tracked = null;
        }
    }

    /** A second goes by. */
    void second() {
        if (watching != null && !watching.look()) {
            watching = null;
        }
    }

    boolean isTracked() {
        return tracked != null;
    }

    /** Operations that have been left to UCX. */
    int abandoned() {
        return abandoned;
    }

    /** Messages that nobody has received. */
    int unreceived() {
        return unreceived;
    }

    private static void write(byte[] bytes, long address) {
        MemorySegment.copy(bytes, 0, NativeMemory.all(), ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    @Override
    public long send(long address, long length, long tag) {
        if (noMemoryToSend) {
            throw new OutOfMemoryError("as the test wants it");
        }
        if (refusing) {
            return UcsStatus.ERR_NO_MEMORY;
        }
        int type = (int) (tag >>> 28) & 0xf;
        int value = (int) tag & Tag.MAX_VALUE;
        if (type == COUNT) {
            counts.add(value);
            return 0;
        }
        byte[] bytes = new byte[(int) length];
        MemorySegment.copy(NativeMemory.all(), ValueLayout.JAVA_BYTE, address, bytes, 0, bytes.length);
        sent.add(new Sent(type, value, bytes));
        return deferring || deferringSends ? run(null, 0) : 0;
    }

    @Override
    public long receive(long message, long address, long length) {
        if (noMemoryToReceive) {
            throw new OutOfMemoryError("as the test wants it");
        }
        byte[] bytes = messages.remove(message);
        if (bytes == null) {
            throw new AssertionError("message " + message + " is received twice");
        }
        unreceived--;
        if (length == 0) {
            return 0;
        }
        if (deferring) {
            return run(bytes, address);
        }
        write(bytes, address);
        return 0;
    }

    private long run(byte[] message, long address) {
        running.put(++last, new Waiting(message, address, new ReferenceCounted[1]));
        return last;
    }

    @Override
    public boolean isFailing() {
        return false;
    }

    @Override
    public int status(long request) {
        asked++;
        assertKnown(request);
        return done.containsKey(request) ? 0 : 1;
    }

    @Override
    public void free(long request) {
        assertKnown(request);
        if (done.remove(request) == null) {
            throw new AssertionError("request " + request + " is freed while it runs");
        }
    }

    private void assertKnown(long request) {
        if (!done.containsKey(request) && !running.containsKey(request)) {
            throw new AssertionError("request " + request + " is not UCX's any more");
        }
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        assertKnown(request);
        abandoned++;
        if (done.remove(request) == null) {
            running.get(request).owner[0] = owner;
        } else if (owner != null) {
            owner.release();
        }
    }

    @Override
    public void track(InFlight operation) {
        if (tracked != null) {
            throw new AssertionError("tracked twice");
        }
        tracked = operation;
    }

    @Override
    public boolean losesMessages() {
        return true;
    }

    @Override
    public void everySecond(EverySecond task) {
        if (noMemoryToWatch) {
            throw new OutOfMemoryError("as the test wants it");
        }
        if (watching != null) {
            throw new AssertionError("looked at twice");
        }
        watching = task;
    }

    @Override
    public void register(int channelId, MessageSink taker) {
        sink = taker;
    }

    @Override
    public void unregister(int channelId) {
        // Messages may still come to it: it has to receive them.
    }
}
