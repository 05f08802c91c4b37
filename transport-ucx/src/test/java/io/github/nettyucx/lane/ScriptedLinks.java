// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkRequest;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.Counters;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.LinkPort;
import io.github.nettyucx.worker.MessageSink;
import io.github.nettyucx.worker.PipePool;
import io.github.nettyucx.worker.SendBufferPool;
import io.github.nettyucx.worker.WorkerCounter;
import io.github.nettyucx.worker.WorkerPort;
import io.netty.util.ReferenceCounted;
import io.netty.util.internal.PlatformDependent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A loop's links over one worker at a time, which do what a test tells them to. */
final class ScriptedLinks implements LinkFactory {

    static final Party PEER = party(7);
    static final byte[] ADDRESS = {1, 2, 3};
    static final SendBufferPool SEND_BUFFERS = new SendBufferPool(new Counters<>(WorkerCounter.class));
    static final PipePool PIPES = new PipePool();

    static Party party(long process) {
        return new Party(new ProcessIdentity(1, 1, 1, 1, process), 100 + process);
    }

    final List<Worker> workers = new ArrayList<>();
    final Deque<Runnable> ready = new ArrayDeque<>();
    final LinkTable table;
    long now = 1_000;
    private long lastNumber;
    /** Those that have a worker. */
    final Set<ProcessIdentity> known = new HashSet<>();
    /** What fails, as long as it is not {@code null}; the second only where there is none. */
    LinkException noWorker;
    IOException noNewWorker;
    IOException noAddress;
    IOException noEndpoint;
    boolean noMemory;
    /** Of workers, whether they can be made or not. */
    int asked;

    ScriptedLinks() {
        table = new LinkTable(this, ready::add, () -> ++lastNumber, () -> now);
    }

    /** What was to be done later. */
    void runReady() {
        while (!ready.isEmpty()) {
            ready.remove().run();
        }
    }

    /** A connecting side's link, confirmed and pinned. */
    OwnHalf connected(Party peer, long theirs) throws LinkException {
        Asking asking = new Asking();
        table.request(LaneKind.SHM, peer, asking);
        return (OwnHalf) table.complete(asking.offered, theirs, ADDRESS);
    }

    /** A serving side's link, confirmed and pinned. */
    OwnHalf served(Party peer, long theirs) throws LinkException {
        LinkHalf half = table.accept(LaneKind.SHM, peer, theirs, ADDRESS);
        table.confirm(half);
        return (OwnHalf) half;
    }

    static Endpoint endpoint(LinkHalf half) {
        return (Endpoint) ((OwnHalf) half).endpoint();
    }

    static Worker worker(LinkHalf half) {
        return (Worker) ((OwnHalf) half).worker();
    }

    /** A handshake that connects to {@link #PEER}. */
    Asking ask(LaneKind lane) {
        Asking asking = new Asking();
        table.request(lane, PEER, asking);
        return asking;
    }

    void idle(long nanos) {
        now += nanos;
        table.collect(now);
    }

    @Override
    public boolean hasWorker(LaneKind lane, boolean serving, ProcessIdentity peer) {
        return known.contains(peer);
    }

    @Override
    public WorkerPort worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException, IOException {
        asked++;
        if (noNewWorker != null && !known.contains(peer)) {
            throw noNewWorker;
        }
        if (noWorker != null) {
            throw noWorker;
        }
        if (workers.isEmpty() || workers.getLast().retired) {
            workers.add(new Worker());
        }
        return workers.getLast();
    }

    /** A handshake that has asked for a link. */
    static final class Asking implements LinkRequest {
        LinkHalf offered;
        LinkHalf reused;
        long theirs;
        String reason;
        long patience = Long.MAX_VALUE;

        @Override
        public boolean isTooLong(long nanos) {
            return nanos >= patience;
        }

        boolean isAnswered() {
            return offered != null || reused != null || reason != null;
        }

        @Override
        public void make(LinkHalf offer) {
            assertFalse(isAnswered());
            offered = offer;
        }

        @Override
        public void reuse(LinkHalf half, long other) {
            assertFalse(isAnswered());
            reused = half;
            theirs = other;
        }

        @Override
        public void unavailable(String text) {
            assertFalse(isAnswered());
            reason = text;
        }
    }

    final class Worker implements WorkerPort {
        final List<Endpoint> endpoints = new ArrayList<>();
        final List<Runnable> reports = new ArrayList<>();
        int pins;
        boolean retired;

        @Override
        public void pin() {
            pins++;
        }

        @Override
        public void unpin() {
            pins--;
        }

        @Override
        public byte[] address() throws IOException {
            if (noAddress != null) {
                throw noAddress;
            }
            return ADDRESS;
        }

        @Override
        public LinkPort connect(byte[] peerAddress) throws IOException {
            if (noEndpoint != null) {
                throw noEndpoint;
            }
            if (noMemory) {
                throw new OutOfMemoryError("as the test wants it");
            }
            endpoints.add(new Endpoint());
            return endpoints.getLast();
        }

        @Override
        public void retire() {
            retired = true;
        }

        @Override
        public boolean isRetired() {
            return retired;
        }

        @Override
        public void afterArrived(Runnable report) {
            reports.add(report);
        }
    }

    static final class Endpoint implements LinkPort {

        private static final long FLUSH = 16;

        record Sent(int channelId, int type, int value) {
        }

        final List<EndpointListener> users = new ArrayList<>();
        final List<Sent> sent = new ArrayList<>();
        /** What these were made of. */
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final Map<Integer, MessageSink> sinks = new HashMap<>();
        /** Messages with bytes that each channel has been sent. */
        private final Map<Integer, Integer> data = new HashMap<>();
        private final List<byte[]> messages = new ArrayList<>();
        private int taken;
        int received;
        int closes;
        int failure;
        /** By whoever throws a message away, as long as it is not {@code null}. */
        RuntimeException thrown;
        /** It has failed, and that has not been told yet. */
        boolean failing;
        /** The only request that there ever is. */
        int flush = UcsStatus.INPROGRESS;
        InFlight tracked;
        boolean freed;
        boolean abandoned;

        /** Delivers a message. @return whether somebody took it */
        boolean deliver(int channelId, int type, int value, String bytes) {
            messages.add(bytes.getBytes(StandardCharsets.US_ASCII));
            MessageSink sink = sinks.get(channelId);
            if (sink != null) {
                taken++;
                sink.onMessage((long) channelId << 32 | (long) type << 28 | numbered(channelId, type, value),
                        messages.size() - 1, bytes.length());
            }
            return sink != null;
        }

        /** @param value of DATA: 0; of FIN: its last bit */
        private int numbered(int channelId, int type, int value) {
            return switch (type) {
                case 1 -> data.merge(channelId, 1, Integer::sum) - 1;
                case 3 -> data.getOrDefault(channelId, 0) << 1 | value;
                default -> value;
            };
        }

        /** Messages that somebody has taken, and that have to be received. */
        int delivered() {
            return taken;
        }

        void fail(int status) {
            failure = status;
            List<EndpointListener> told = List.copyOf(users);
            users.clear();
            told.forEach(user -> user.endpointFailed(status));
        }

        @Override
        public boolean isOpen() {
            return failure == 0 && closes == 0;
        }

        @Override
        public void add(EndpointListener user) {
            users.add(user);
        }

        @Override
        public void remove(EndpointListener user) {
            users.remove(user);
        }

        @Override
        public List<String> transports() {
            return List.of("sysv/memory");
        }

        @Override
        public void close() {
            closes++;
        }

        @Override
        public long send(long address, long length, long tag) {
            sent.add(new Sent((int) (tag >>> 32), (int) (tag >>> 28 & 0xf), (int) tag & 0xfffffff));
            byte[] content = new byte[(int) length];
            PlatformDependent.copyMemory(address, content, 0, length);
            bytes.writeBytes(content);
            return failure;
        }

        @Override
        public long receive(long message, long address, long length) {
            if (length == 0 && thrown != null) {
                throw thrown;
            }
            received++;
            byte[] bytes = messages.get((int) message);
            if (length == 0) {
                return bytes.length == 0 ? UcsStatus.OK : UcsStatus.ERR_MESSAGE_TRUNCATED;
            }
            assertEquals(bytes.length, length);
            PlatformDependent.copyMemory(bytes, 0, address, length);
            return UcsStatus.OK;
        }

        @Override
        public boolean isFailing() {
            return failing;
        }

        @Override
        public long flush() {
            return failure != 0 ? failure : flush == UcsStatus.INPROGRESS ? FLUSH : flush;
        }

        /** The flush is over. */
        void flushed(int status) {
            flush = status;
            assertFalse(tracked.poll());
        }

        @Override
        public int status(long request) {
            checkFlush(request);
            return flush;
        }

        @Override
        public void free(long request) {
            checkFlush(request);
            assertTrue(flush != UcsStatus.INPROGRESS);
            freed = true;
        }

        @Override
        public void abandon(long request, ReferenceCounted owner) {
            checkFlush(request);
            abandoned = true;
        }

        /** All else completes at once. */
        private void checkFlush(long request) {
            assertEquals(FLUSH, request);
            assertFalse(freed || abandoned, "somebody has given it away");
        }

        @Override
        public void everySecond(EverySecond task) {
            // No second goes by.
        }

        @Override
        public void track(InFlight operation) {
            tracked = operation;
        }

        @Override
        public void register(int channelId, MessageSink sink) {
            sinks.put(channelId, sink);
        }

        @Override
        public void unregister(int channelId) {
            sinks.remove(channelId);
        }
    }
}
