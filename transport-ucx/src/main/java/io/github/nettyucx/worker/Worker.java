// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.LongToIntFunction;

/**
 * A UCX worker with its links, the channels that its messages go to, and its operations in flight.
 */
public final class Worker implements WorkerPort {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Worker.class);

    private static final int CATCH_UP_LIMIT = 16;
    /** How long a worker without connections waits for the next one. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * With so many, closed ones included, a worker has made all its links: UCX numbers those between two workers with 16
     * bits, and matches no more when it has come to the end.
     */
    static final int MAX_LINKS = 60_000;

    /**
     * How long one waits for the operations of closed connections. UCX cancels them with the endpoint, within some
     * turns, except for the receive of an eager message of which a peer that has died, or is stopped, has sent only
     * some fragments: that one is never completed.
     */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Calls of UCX's progress in one turn, when endings wait for them: turns of a busy loop can take milliseconds. */
    private static final int ARRIVED_PROGRESS_CALLS_PER_TURN = 64;

    private final ProgressEngine engine;
    private final String name;
    private final UcpWorker ucp;
    private final long handle;
    private final Arena arena = Arena.ofConfined();
    private final long plainParam;
    /** {@code null} where UCX needs none. */
    private final RegisteredMemory registered;
    private final Arrivals arrivals;
    private final Orphans orphans;
    private final Polled inFlight = new Polled();
    private final PeriodicLooks looks = new PeriodicLooks();
    /** Links that UCX has reported, and those of which their users have to be told. */
    private final Queue<Link> failed = new ArrayDeque<>();
    private final Queue<Link> failures = new ArrayDeque<>();
    private final Endings endings = new Endings();

    private byte[] address;
    private final Set<Link> links = Collections.newSetFromMap(new IdentityHashMap<>());
    /** How many links have been made, those that are closed included. */
    private int made;
    private int pins;
    private boolean retired;
    private final LinkKind kind;
    /** Of {@link HoledQueues}. */
    private int holesSeen = HoledQueues.found();
    /**
     * Whether UCX would tell of the next event by the descriptor, and has not done so yet. Over shared memory that is a bit in
     * the queue. The peer that writes next takes it, and signals then. So the bit is there until there is a message, which
     * progress counts, or a signal. That there is room again in a peer's queue UCX tells nobody. It only refuses to be armed
     * while something waits for that. So whatever may leave something to be sent makes that the worker is armed again.
     */
    private boolean armed;
    /** Asked in place of UCX, unless it is {@code null}. */
    private LongToIntFunction arming;
    /** Whether UCX cannot arm it. */
    private boolean lost;
    private long idleSinceNanos;
    private final Counters<WorkerCounter> counters;

    /**
     * @param kind       of its links
     * @param registered for those, or {@code null}
     */
    Worker(ProgressEngine engine, String name, LinkKind kind, UcpWorker ucp, RegisteredMemory registered) {
        this.engine = engine;
        this.name = name;
        this.kind = kind;
        this.ucp = ucp;
        this.registered = registered;
        counters = engine.counters();
        orphans = new Orphans(counters);
        handle = ucp.address();
        plainParam = UcpRequestParam.allocate(arena);
        arrivals = new Arrivals(this, handle, arena.allocate(UcpTag.INFO_SIZE, 8).address());
        idleSinceNanos = System.nanoTime();
    }

    // ------------------------------------------------------------------------------------------- links

    @Override
    public byte[] address() throws IOException {
        if (address == null) {
            address = ucp.queryAddress();
        }
        return address;
    }

    @Override
    public Link connect(byte[] peerAddress) throws IOException {
        if (kind.sharesQueues() && HoledQueues.has(peerAddress)) {
            throw new IOException("the peer's worker receives nothing more from this process, which has failed to send to"
                    + " it; the next link will be with another one");
        }
        Link link = new Link(this, peerAddress);
        armed = false;
        link.attach(ucp.connect(peerAddress, link));
        links.add(link);
        if (++made >= MAX_LINKS) {
            retire();
        }
        counters.increment(WorkerCounter.ENDPOINTS_OPENED);
        return link;
    }

    @Override
    public void pin() {
        pins++;
    }

    @Override
    public void unpin() {
        pins--;
        idleSinceNanos = System.nanoTime();
    }

    void linkClosed(Link link) {
        links.remove(link);
        counters.increment(WorkerCounter.ENDPOINTS_CLOSED);
        idleSinceNanos = System.nanoTime();
    }

    /** Called inside UCX's progress. */
    void failed(Link link) {
        failed.add(link);
    }

    boolean sharesQueues() {
        return kind.sharesQueues();
    }

    boolean losesMessages() {
        return kind.losesMessages();
    }

    /** See {@link LinkKind#armsWhenSilent}. */
    boolean armsWhenSilent() {
        return kind.armsWhenSilent();
    }

    /** An operation of a link has failed. Whether the peer's worker still receives anything is not known. */
    void holed(int status) {
        logger.warn("An operation over shared memory has failed, and all connections with its peer's worker end: {} ({})",
                UcsStatus.name(status), this);
        retire();
    }

    /** The end of a control socket tells that the peer has gone, not that everything that he sent has been taken. */
    @Override
    public void afterArrived(Runnable report) {
        endings.add(report);
    }

    /** As if so many had been made. */
    void made(int links) {
        made = links;
    }

    /** UCX's numbering of its endpoints may be out of step with a peer's. */
    @Override
    public void retire() {
        retired = true;
    }

    @Override
    public boolean isRetired() {
        return retired;
    }

    /** Runs what is one channel's matter: what it throws must not end the turn of the others. */
    void guarded(Runnable work) {
        engine.guarded(work);
    }

    // ------------------------------------------------------------------------------------------- channels

    void register(int channelId, MessageSink sink) {
        arrivals.register(channelId, sink);
    }

    void unregister(int channelId) {
        arrivals.unregister(channelId);
    }

    // ------------------------------------------------------------------------------------------- operations

    void track(InFlight operation) {
        inFlight.add(operation);
    }

    void everySecond(EverySecond task) {
        looks.add(task, System.nanoTime());
    }

    /** @return the answer of UCX, unchanged */
    long started(long request) {
        if (request != UcsStatus.OK) {
            // UCX has something to do that it may not tell of.
            armed = false;
        }
        if (request > 0) {
            counters.increment(WorkerCounter.OPERATIONS_STARTED);
        }
        return request;
    }

    /** @return the answer of UCX */
    long receive(long message, long address, long length) {
        long param = param(address, length);
        arrivals.received(message);
        // UCX answers the sender of a rendezvous, and that may be left to do when the receive is complete.
        armed = false;
        return started(UcpTag.messageReceiveNbx(handle, address, length, message, param));
    }

    /** @return the answer of UCX */
    long flush(long endpoint) {
        return started(UcpEndpoint.flushNbx(endpoint, plainParam));
    }

    void free(long request) {
        UcpRequest.free(request);
        counters.increment(WorkerCounter.OPERATIONS_FINISHED);
    }

    /** @param whenDone is told the request's status, or {@code null} */
    void adopt(long request, ReferenceCounted owner, IntConsumer whenDone) {
        if (orphans.add(request, owner, whenDone)) {
            track(orphans);
        }
    }

    /** What a send or a receive of this memory is given. */
    long param(long address, long length) {
        return registered == null ? plainParam : registered.param(address, length, plainParam);
    }

    RegisteredMemory registered() {
        return registered;
    }

    /** Operations are cut off of which a peer may have the keys. */
    void retireRegistered() {
        if (registered != null) {
            registered.retire();
        }
    }

    /** Whether operations of channels that are gone still use memory. */
    boolean isMemoryInUse() {
        return orphans.haveOwners();
    }

    public ProgressEngine engine() {
        return engine;
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /**
     * One turn: progress, delivery of what has arrived, completions, and last the failures of links and the ends of
     * channels, so that what a peer sent before it died is delivered before its death is.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    int poll() {
        if (kind.sharesQueues() && holesSeen != HoledQueues.found()) {
            holesSeen = HoledQueues.found();
            links.forEach(Link::failIfHoled);
        }
        boolean fed = !isHoldingBack();
        int work = 0;
        if (fed) {
            work = progress();
            if (!endings.isEmpty()) {
                work += bringIn(work);
            }
        }
        closeFailed();
        if (work != 0 || arrivals.remain()) {
            work += arrivals.take();
        }
        if (inFlight.count() > 0) {
            work += inFlight.poll();
        }
        if (!arrivals.remain() && (!failures.isEmpty() || endings.isFirstReady())) {
            work += reportFailures() + reportEndings();
        }
        return work;
    }

    /**
     * Whether failures wait for messages that came before them. Meanwhile UCX brings no others: peers that send faster
     * than this loop takes would have the failures wait for as long as they go on.
     */
    private boolean isHoldingBack() {
        return arrivals.remain() && (!failures.isEmpty() || endings.isFirstReady());
    }

    /** What has arrived before the ends that wait for it. */
    private int bringIn(int first) {
        int calls = 1;
        int last = first;
        int work = 0;
        while (last != 0 && calls < ARRIVED_PROGRESS_CALLS_PER_TURN) {
            last = progress();
            work += last;
            calls++;
        }
        endings.progressed(calls, last == 0);
        return work;
    }

    private int reportEndings() {
        int reported = 0;
        while (endings.isFirstReady()) {
            guarded(endings.removeFirst());
            reported++;
        }
        return reported;
    }

    private int progress() {
        int work = UcpWorker.progress(handle);
        counters.increment(WorkerCounter.PROGRESS_CALLS);
        if (work != 0) {
            armed = false;
            counters.increment(WorkerCounter.PROGRESS_CALLS_WITH_WORK);
        }
        return work;
    }

    /** Lets UCX finish what it has begun. What is asked of it next, it may finish later without telling of it. */
    void settle() {
        armed = false;
        for (int i = 0; i < CATCH_UP_LIMIT && progress() != 0; i++) {
            // The next poll takes the messages that have come: not everybody expects them in the middle of a write.
            arrivals.expect();
        }
    }

    private void closeFailed() {
        for (Link link = failed.poll(); link != null; link = failed.poll()) {
            link.closeFailed();
            failures.add(link);
        }
    }

    private int reportFailures() {
        int reported = 0;
        for (Link link = failures.poll(); link != null; link = failures.poll()) {
            link.reportFailure();
            reported++;
        }
        return reported;
    }

    /** @return whether the worker's descriptor will tell of the next event; otherwise there is something to do now */
    boolean arm() {
        // There can be news since the last turn: what is closed meanwhile lets UCX finish what it has begun.
        if (arrivals.remain() || arrivals.take() > 0 || !endings.isEmpty() || !failed.isEmpty() || !failures.isEmpty()) {
            return false;
        }
        if (armed) {
            return true;
        }
        counters.increment(WorkerCounter.ARM_CALLS);
        int status = arming == null ? UcpWorker.arm(handle) : arming.applyAsInt(handle);
        if (status == UcsStatus.OK) {
            armed = kind.staysArmed();
            return !kind.looksAgain() || !hasComeBeforeArming();
        }
        if (status != UcsStatus.ERR_BUSY && !(kind.outlivesResets() && status == UcsStatus.ERR_CONNECTION_RESET)) {
            lost(status);
        }
        return false;
    }

    /** Some devices tell only of what comes when they are armed already. */
    private boolean hasComeBeforeArming() {
        if (progress() == 0 && failed.isEmpty()) {
            return false;
        }
        arrivals.expect();
        return true;
    }

    /**
     * UCX cannot tell of events any more, as when a device has been removed. That is this worker's misfortune, and not the
     * loop's: its links fail, and with the last of them it goes.
     */
    private void lost(int status) {
        if (!lost) {
            lost = true;
            logger.warn("{} cannot be armed, and its links end: {}", this, UcsStatus.name(status));
            retire();
        }
        // Also those that have been made since: a peer may have been told of the worker before.
        links.forEach(link -> link.fail(status));
    }

    /** Has {@code arming} asked in place of UCX. */
    void armBy(LongToIntFunction arming) {
        this.arming = arming;
    }

    /** The descriptor has told of an event. It may go on to do so, or tell of no other, until the worker is armed again. */
    void signalled() {
        armed = false;
    }

    int eventFd() throws IOException {
        return ucp.eventFd();
    }

    // ------------------------------------------------------------------------------------------- life

    /**
     * Looks at operations that take long, and retires a worker that keeps some which UCX will never complete: the
     * receives of messages of which a peer that has died has sent only a part. They end with the worker, and so it must
     * not go on for ever.
     *
     * @return whether some have completed
     */
    boolean collect(long now) {
        boolean completed = orphans.collect(now);
        looks.run(now);
        if (!retired && orphans.isOlderThan(STUCK_NANOS, now)) {
            retire();
        }
        return completed;
    }

    /** Whether something has to be looked at within a second. */
    boolean isWatching() {
        return !looks.isEmpty() || orphans.size() > 0;
    }

    /** Whether nobody has a link of it, or is about to. */
    boolean isUnused() {
        return links.isEmpty() && pins == 0;
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
        return orphans.isEmpty() ? retired || unusedNanos >= IDLE_NANOS : unusedNanos >= STUCK_NANOS;
    }

    /** Operations whose channels are gone and that UCX has not completed yet. */
    int orphanCount() {
        return orphans.size();
    }

    /** There must be no link. */
    void close() {
        // What has come since the last turn is for channels that are gone; UCX would warn of it, message by message. And
        // what has completed since then is given back: a handler can have held up the loop for longer than is waited.
        for (int i = 0; i < CATCH_UP_LIMIT && progress() + arrivals.take() + orphans.finish() > 0; i++) {
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
