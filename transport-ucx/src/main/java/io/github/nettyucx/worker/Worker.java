// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.ConnectionHandler;
import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpListener;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpStream;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A UCX worker with its endpoints, the channels that its messages go to, and its operations in flight.
 */
public final class Worker {

    /** Messages that one turn takes at most, so that tasks and other workers get their share. */
    private static final int DRAIN_LIMIT = 256;
    /** From then on UCX gets an extra turn before something is sent, and so many calls of its progress at most. */
    private static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int CATCH_UP_LIMIT = 16;
    /** How long a worker without connections waits for the next one. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * How long one waits for the operations of closed connections. UCX cancels them with the endpoint, within some
     * turns, except for the receive of an eager message of which a peer that has died, or is stopped, has sent only
     * some fragments: that one is never completed.
     */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final SecureRandom CHANNEL_IDS = new SecureRandom();

    private final ProgressEngine engine;
    private final String name;
    private final UcpWorker ucp;
    private final long handle;
    private final Arena arena = Arena.ofConfined();
    private final long plainParam;
    private final long waitAllParam;
    private final long messageInfo;
    private final long lengthOut;

    private final IntObjectMap<MessageSink> sinks = new IntObjectHashMap<>();
    /** The channel of the last message: in most turns it is the channel of the next one, too. */
    private int lastId;
    private MessageSink lastSink;

    private final Orphans orphans;
    private InFlight[] inFlight = new InFlight[16];
    private int inFlightCount;
    /** Endpoints that UCX has reported, and those of which their listeners have to be told. */
    private final Queue<Endpoint> failed = new ArrayDeque<>();
    private final Queue<Endpoint> failures = new ArrayDeque<>();

    private int endpoints;
    private int listeners;
    private boolean retired;
    /** A peer has gone in good order, as far as its connection tells; its process may have died right after. */
    private boolean suspect;
    private boolean undrained;
    private long idleSinceNanos;
    /** When UCX has last got its turn, roughly: an idle loop does not look at the clock. */
    private long progressedNanos;
    private final Counters<WorkerCounter> counters;

    Worker(ProgressEngine engine, String name, UcpWorker ucp) {
        this.engine = engine;
        this.name = name;
        this.ucp = ucp;
        counters = engine.counters();
        orphans = new Orphans(counters);
        handle = ucp.address();
        plainParam = UcpRequestParam.allocate(arena);
        waitAllParam = UcpRequestParam.allocate(
                arena, UcpRequestParam.OP_ATTR_FIELD_FLAGS, UcpStream.RECEIVE_FLAG_WAIT_ALL);
        messageInfo = arena.allocate(UcpTag.INFO_SIZE, 8).address();
        lengthOut = arena.allocate(8, 8).address();
        idleSinceNanos = System.nanoTime();
    }

    // ------------------------------------------------------------------------------------------- connections

    /** Starts to connect; the answer is not connected before its {@link Endpoint#flush()} has completed. */
    public Endpoint connect(InetSocketAddress remote, InetSocketAddress local, EndpointListener listener)
            throws IOException {
        return open(listener, endpoint -> ucp.connect(remote, local, true, endpoint));
    }

    /** Accepts a connection request that a listener of this or of another loop's worker has received. */
    public Endpoint accept(UcpConnectionRequest request, EndpointListener listener) throws IOException {
        return open(listener, endpoint -> ucp.accept(request, endpoint));
    }

    @FunctionalInterface
    private interface EndpointSource {
        UcpEndpoint open(Endpoint endpoint) throws IOException;
    }

    private Endpoint open(EndpointListener listener, EndpointSource source) throws IOException {
        DescriptorReserve.PROCESS.beginConnecting();
        Endpoint endpoint = new Endpoint(this, listener);
        boolean opened = false;
        try {
            endpoint.attach(source.open(endpoint));
            opened = true;
        } finally {
            if (!opened) {
                endpoint.endConnecting(false);
            }
        }
        endpointOpened();
        return endpoint;
    }

    /**
     * @param handler called inside UCX's progress; must only take note of the request
     */
    public UcpListener listen(InetSocketAddress address, ConnectionHandler handler) throws IOException {
        UcpListener listener = ucp.listen(address, handler);
        listeners++;
        return listener;
    }

    /** Gives back a listener that {@link #listen} made. */
    public void close(UcpListener listener) {
        listener.close();
        listeners--;
    }

    private void endpointOpened() {
        endpoints++;
        counters.increment(WorkerCounter.ENDPOINTS_OPENED);
    }

    void endpointClosed() {
        endpoints--;
        counters.increment(WorkerCounter.ENDPOINTS_CLOSED);
        idleSinceNanos = System.nanoTime();
    }

    /** Called inside UCX's progress. */
    void failed(Endpoint endpoint) {
        failed.add(endpoint);
    }

    // ------------------------------------------------------------------------------------------- channels

    int newChannelId() {
        int id;
        do {
            // Random over the whole range: an id is not used again soon, and hard to guess for another peer.
            id = CHANNEL_IDS.nextInt();
        } while (id == 0 || sinks.containsKey(id));
        return id;
    }

    void register(int channelId, MessageSink sink) {
        sinks.put(channelId, sink);
    }

    void unregister(int channelId) {
        sinks.remove(channelId);
        if (lastId == channelId) {
            lastSink = null;
        }
    }

    // ------------------------------------------------------------------------------------------- operations

    void track(InFlight operation) {
        if (inFlightCount == inFlight.length) {
            inFlight = Arrays.copyOf(inFlight, inFlightCount * 2);
        }
        inFlight[inFlightCount++] = operation;
    }

    /** @return the answer of UCX, unchanged */
    long started(long request) {
        if (request > 0) {
            counters.increment(WorkerCounter.OPERATIONS_STARTED);
        }
        return request;
    }

    void free(long request) {
        UcpRequest.free(request);
        counters.increment(WorkerCounter.OPERATIONS_FINISHED);
    }

    void adopt(long request, ReferenceCounted owner, Runnable whenDone) {
        if (orphans.isEmpty()) {
            track(orphans);
        }
        orphans.add(request, owner, whenDone);
    }

    long handle() {
        return handle;
    }

    long plainParam() {
        return plainParam;
    }

    long waitAllParam() {
        return waitAllParam;
    }

    long lengthOut() {
        return lengthOut;
    }

    public ProgressEngine engine() {
        return engine;
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /**
     * One turn: progress, delivery of what has arrived, completions, and last the failures of endpoints, so that what
     * a peer sent before it died is delivered before its death is.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    int poll() {
        boolean fed = !isHoldingBack();
        int work = fed ? progress() : 0;
        closeFailed();
        if (work != 0 || undrained) {
            work += drain();
        }
        if (inFlightCount > 0) {
            work += pollInFlight();
        }
        if (!failures.isEmpty() && !undrained) {
            work += reportFailures();
        }
        if (work != 0 && fed) {
            progressedNanos = System.nanoTime();
        }
        return work;
    }

    /**
     * Whether failures wait for messages that came before them. Meanwhile UCX brings no others: peers that send faster
     * than this loop takes would have the failures wait for as long as they go on.
     */
    private boolean isHoldingBack() {
        return undrained && !failures.isEmpty();
    }

    private int progress() {
        int work = UcpWorker.progress(handle);
        counters.increment(WorkerCounter.PROGRESS_CALLS);
        if (work != 0) {
            counters.increment(WorkerCounter.PROGRESS_CALLS_WITH_WORK);
        }
        return work;
    }

    /**
     * Lets UCX find out what has happened while a handler or a task has held up the loop. To be called before
     * something is sent: a send to a peer that has gone meanwhile would seem to succeed.
     */
    public void catchUp() {
        long now = System.nanoTime();
        if (isHoldingBack() || now - progressedNanos < HELD_UP_NANOS) {
            return;
        }
        progressedNanos = now;
        settle();
        closeFailed();
    }

    /** Lets UCX finish what it has begun. */
    void settle() {
        for (int i = 0; i < CATCH_UP_LIMIT && progress() != 0; i++) {
            // The next poll takes the messages that have come: not everybody expects them in the middle of a write.
            undrained = true;
        }
    }

    private void closeFailed() {
        for (Endpoint endpoint = failed.poll(); endpoint != null; endpoint = failed.poll()) {
            endpoint.closeFailed();
            failures.add(endpoint);
        }
    }

    private int drain() {
        int taken = 0;
        while (taken < DRAIN_LIMIT) {
            long message = UcpTag.probeNb(handle, 0, 0, true, messageInfo);
            if (message == 0) {
                undrained = false;
                return taken;
            }
            taken++;
            deliver(message, UcpTag.infoTag(messageInfo), UcpTag.infoLength(messageInfo));
        }
        undrained = true;
        return taken;
    }

    private void deliver(long message, long tag, long length) {
        int id = (int) (tag >>> 32);
        MessageSink sink = lastSink;
        if (sink == null || id != lastId) {
            sink = sinks.get(id);
            if (sink == null) {
                drop(message);
                return;
            }
            lastId = id;
            lastSink = sink;
        }
        sink.onMessage(tag, message, length);
    }

    /** A message for a channel that is closed, or never was: late data, or somebody's forgery. */
    private void drop(long message) {
        counters.increment(WorkerCounter.UNKNOWN_CHANNEL_MESSAGES);
        long request = started(UcpTag.messageReceiveNbx(handle, messageInfo, 0, message, plainParam));
        if (request > 0) {
            adopt(request, null, null);
        }
    }

    private int pollInFlight() {
        int before = inFlightCount;
        for (int i = inFlightCount - 1; i >= 0; i--) {
            InFlight operation = inFlight[i];
            if (!operation.poll()) {
                // Operations that were added meanwhile stand behind i; the last one fills the gap.
                inFlightCount--;
                inFlight[i] = inFlight[inFlightCount];
                inFlight[inFlightCount] = null;
            }
        }
        return Math.max(0, before - inFlightCount);
    }

    private int reportFailures() {
        int reported = 0;
        for (Endpoint endpoint = failures.poll(); endpoint != null; endpoint = failures.poll()) {
            retired |= endpoint.isPeerLost();
            suspect |= !endpoint.isRefused();
            endpoint.reportFailure();
            reported++;
        }
        return reported;
    }

    /** @return whether the worker's descriptor will tell of the next event; otherwise there is something to do now */
    boolean arm() throws IOException {
        if (drain() > 0 || undrained) {
            return false;
        }
        int status = UcpWorker.arm(handle);
        if (status == UcsStatus.OK) {
            return true;
        }
        if (status == UcsStatus.ERR_BUSY) {
            return false;
        }
        throw UcsStatus.exception("ucp_worker_arm", status);
    }

    int eventFd() throws IOException {
        return ucp.eventFd();
    }

    // ------------------------------------------------------------------------------------------- life

    /**
     * Whether one of the worker's peers has died. A process that is killed while it writes into shared memory leaves
     * a hole behind which the worker receives nothing more, from anybody; so no new connection may use it.
     * <p>
     * When connections end as they should, those that are left show that the process lives. When none is left, nothing
     * does.
     */
    boolean isRetired() {
        return retired || suspect && endpoints == 0;
    }

    /** Whether nobody has an endpoint or a listener of it. */
    boolean isUnused() {
        return endpoints == 0 && listeners == 0;
    }

    boolean isQuiet() {
        return isUnused() && orphans.isEmpty();
    }

    /** Whether it is not worth keeping any longer. */
    boolean isDisposable(long now) {
        long unusedNanos = now - idleSinceNanos;
        if (!isUnused()) {
            return false;
        }
        return orphans.isEmpty() ? retired || suspect || unusedNanos >= IDLE_NANOS : unusedNanos >= STUCK_NANOS;
    }

    /** Operations whose channels are gone and that UCX has not completed yet. */
    int orphanCount() {
        return orphans.size();
    }

    /** Connections that have operations in flight, and operations whose channels are gone. */
    int operationCount() {
        return orphans.isEmpty() ? inFlightCount : inFlightCount - 1 + orphans.size();
    }

    /** There must be no endpoint. */
    void close() {
        // What has come since the last turn is for channels that are gone; UCX would warn of it, message by message.
        for (int i = 0; i < CATCH_UP_LIMIT && progress() + drain() > 0; i++) {
            closeFailed();
        }
        ucp.close();
        // With the worker goes the memory that the fragments would come through; only now nobody writes any more.
        orphans.giveUp();
        arena.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
