// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoop;
import io.netty.channel.EventLoop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Another node, as this one sees it: messages and requests to it. Any thread may call; {@link Node#peer} gives it.
 * <p>
 * A connection is made when there is something to send. Messages that were not sent when a connection was lost go over the
 * next one; those that were are told as {@linkplain NodeListener#undelivered undelivered}, unless the peer has acknowledged
 * that they reached its handlers.
 */
public final class Peer {

    /** Instead of a ticket: the message was sent by an event loop, and waits until the ring has room. */
    public static final long NO_TICKET = -1;

    /** What is known of a message. */
    public enum Delivery {
        /** It waits, or is on its way; or it has {@link Peer#NO_TICKET}. */
        PENDING,
        /** The peer's handler had it; of a handler in a pool: it is in that pool's queue. */
        DELIVERED,
        /** {@link NodeListener#undelivered} has been told, or is being told. */
        UNDELIVERED
    }

    /** In bytes. */
    private static final int MAX_REASON = 8192;
    private static final long RETRY_MILLIS = 50;
    /** After a node could not be reached, so long messages to it are given up at once. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Node node;
    private final int id;
    private final EventLoop home;
    /** Of the first message. A node that only sends to this one costs no ring. Written with the lock. */
    private volatile Outgoing outgoing;
    private final Asking asking;
    private final Inbox inbox;
    private final Runnable drain = this::drain;
    private final Deliveries deliveries = new Deliveries();
    private final Losses losses;
    private final Presence presence;
    /** Where messages go, or {@code null}. Changed with this object's lock, and on its own loop if it is to be another. */
    private volatile Connection current;
    /** Of the thread that drains. */
    private boolean draining;

    // With the lock.
    private final List<Connection> connections = new ArrayList<>();
    private long incarnation;
    private boolean connecting;
    private long reachDeadlineNanos;
    private boolean paused;
    private long pauseEndNanos;
    /** No message is taken any more. */
    private boolean closing;
    /** Written with the lock. */
    private volatile boolean closed;

    Peer(Node node, int id, EventLoop home) {
        this.node = node;
        this.id = id;
        this.home = home;
        asking = new Asking(this, node, home);
        inbox = new Inbox(node.executor());
        losses = new Losses(this, node, home, deliveries, asking);
        presence = new Presence(this, node);
    }

    /** The node's id. */
    public int id() {
        return id;
    }

    // ------------------------------------------------------------------------------------------- messages

    /**
     * Sends a message. If the ring has no room, a thread waits for it; an event loop does not, and its message is kept until
     * there is room. When the method returns, the message object may be used again.
     *
     * @return the message's ticket: later messages have larger ones; or {@link #NO_TICKET}
     * @throws MessagingException.RingFull if there was no room within the node's {@code sendTimeout}, or too much of what
     *                                     event loops have sent waits already
     * @throws MessagingException.NodeLost if this node has been closed
     * @throws IllegalArgumentException    if the message is too large
     */
    public <T> long send(MessageType<T> type, T message) {
        return put(Frame.MESSAGE, type.number(), 0, type.codec(), message, true, null);
    }

    /**
     * The same, but if there is no room no thread waits. Of a message that has to travel in parts that is said of the first.
     *
     * @throws MessagingException.RingFull if there is no room now, or the message has to travel in parts and must not begin:
     *                                     the connection is being closed, or as many threads as may be are in the middle of one
     */
    public <T> long trySend(MessageType<T> type, T message) {
        return put(Frame.MESSAGE, type.number(), 0, type.codec(), message, false, null);
    }

    private <T> long put(int kind, int type, long correlation, Codec<? super T> codec, T message, boolean wait,
                         Pending request) {
        Outbox outbox = Outbox.begin();
        long ticket;
        try {
            ticket = outgoing().put(outbox, kind, type, correlation, codec, message, wait, request);
        } finally {
            outbox.end();
        }
        if (closed) {
            // The node has ended while a codec was writing, and maybe nobody was left to tell of the message.
            throw new MessagingException.NodeLost("this node has been closed", null);
        }
        return ticket;
    }

    <T> void answer(int kind, int type, long correlation, Codec<? super T> codec, T message) {
        put(kind, type, correlation, codec, message, true, null);
    }

    /** Answers that there is no response. @param reason which is cut if it is long */
    void refuse(int type, long correlation, String reason, boolean wait) {
        int most = Math.max(0, (Math.min(node.settings().maxMessage(), MAX_REASON) - 4) / 3);
        put(Frame.FAILURE, type, correlation, StringCodec.INSTANCE,
                reason.length() <= most ? reason : reason.substring(0, most), wait, null);
    }

    /** What is known of the message with that ticket. Of {@link #NO_TICKET} that is never more than {@link Delivery#PENDING}. */
    public Delivery delivery(long ticket) {
        return deliveries.of(ticket);
    }

    // ------------------------------------------------------------------------------------------- requests

    /**
     * Sends a request and waits for the response: the thread spins for the node's {@code requestSpin}, and then parks. While
     * that keeps being in vain it parks at once, and tries now and then. Not for event loops.
     *
     * @param timeout more than 0
     * @return the response, the caller's to release if its codec has a pool
     * @throws MessagingException    of {@link #send}; {@link MessagingException.RequestTimeout},
     *                               {@link MessagingException.RequestRefused}, {@link MessagingException.NodeLost}; or if the
     *                               thread is interrupted, whose status stays
     * @throws IllegalStateException if an event loop of the node calls
     */
    public <Q, R> R request(RequestType<Q, R> type, Q request, Duration timeout) {
        return asking.request(type, request, timeout);
    }

    /**
     * Sends a request. The future completes on an event loop, and its dependents must not block. Cancelling it ends the
     * request on this side; the peer handles it nevertheless. The response is the caller's to release if its codec has a pool.
     *
     * @param timeout more than 0; kept to 10 ms
     */
    public <Q, R> CompletableFuture<R> requestAsync(RequestType<Q, R> type, Q request, Duration timeout) {
        FuturePending<R> pending = new FuturePending<>(node, type.number());
        asking.begin(pending, type, request, timeout);
        return pending.future();
    }

    /**
     * The same with a callback.
     *
     * @param timeout more than 0; kept to 10 ms
     */
    public <Q, R> void requestAsync(RequestType<Q, R> type, Q request, Duration timeout, ResponseHandler<R> handler) {
        asking.begin(new CallbackPending<>(node, type.number(), Objects.requireNonNull(handler, "handler")), type,
                request, timeout);
    }

    // ------------------------------------------------------------------------------------------- the loop

    private EventLoop loop() {
        Connection connection = current;
        return connection == null ? home : connection.loop();
    }

    boolean isOnLoop() {
        return loop().inEventLoop();
    }

    /** There is something to send; the consumer was asleep. */
    void wake() {
        Connection connection = current;
        EventLoop loop = connection == null ? home : connection.loop();
        if (!loop.inEventLoop()) {
            node.counters().wakeups.increment();
            execute(loop);
        } else if (draining) {
            execute(loop);
        } else if (connection == null || !connection.turn().defer(this)) {
            drain();
        }
    }

    private void execute(EventLoop loop) {
        LoopTask.execute(loop, drain);
    }

    /** A thread that waited has been woken. It may have no processor but the one on which the loop would look for work. */
    void makeWay() {
        if (loop() instanceof UcxEventLoop loop && loop.inEventLoop()) {
            loop.rest();
        }
    }

    void drainSoon() {
        execute(loop());
    }

    /** An event loop has found no room: if it is the one that can make room, it does so now. */
    void drainHere() {
        if (!draining && loop().inEventLoop()) {
            drain();
        }
    }

    /** Sends what there is. On any thread, but what is done is done on the right one. */
    void drain() {
        Connection connection = current;
        EventLoop loop = connection == null ? home : connection.loop();
        if (!loop.inEventLoop() || draining) {
            execute(loop);
        } else if (connection == null) {
            drainUnconnected();
        } else if (connection.hasFailed()) {
            failed(connection);
        } else {
            Outgoing.Sent sent;
            draining = true;
            try {
                sent = outgoing == null ? Outgoing.Sent.ASLEEP : outgoing.send(connection.channel(),
                        connection.turn().counters(), moderation(connection), connection.isLeaving());
            } finally {
                draining = false;
            }
            if (connection.hasFailed()) {
                failed(connection);
                return;
            }
            connection.used();
            if (connection.isLeaving()) {
                connection.leaveIfWhole();
            }
            if (sent == Outgoing.Sent.MORE) {
                execute(loop);
            }
        }
    }

    /**
     * What handlers have sent while the loop read goes out now. The loop has been woken for what it has read, and that says
     * nothing of the messages of threads.
     *
     * @return {@code null} if the loop is not to nap
     */
    private static WakeModeration moderation(Connection connection) {
        if (connection.turn().isEnding()) {
            connection.moderation().end();
            return null;
        }
        return connection.moderation();
    }

    /** On {@link #home}. */
    private void drainUnconnected() {
        if (losses.areTold()) {
            // Who is told sends something. It would be told of that before it has returned, and again.
            execute(home);
            return;
        }
        Losses.Loss loss = null;
        synchronized (this) {
            if (current != null) {
                execute(loop());
                return;
            } else if ((outgoing == null || outgoing.rests()) && !asking.needsConnection()) {
                return;
            } else if (closed || paused && System.nanoTime() - pauseEndNanos < 0) {
                loss = giveUp(new MessagingException.NodeLost(closed ? "this node has been closed"
                        : "node " + id + " could not be reached a moment ago", null));
            } else if (!connecting && connections.stream().noneMatch(Connection::isUsable)) {
                // A connection that is there waits until the one before has ended, and then sends.
                connecting = true;
                paused = false;
                reachDeadlineNanos = System.nanoTime() + node.settings().reachTimeoutNanos();
            } else {
                return;
            }
        }
        if (loss != null) {
            losses.tell(loss);
        } else {
            node.connect(this, home);
        }
    }

    /** With the lock, while there is no connection. */
    private Losses.Loss giveUp(MessagingException cause) {
        long from = taken();
        Outgoing.Sent left = outgoing().discard();
        if (left == Outgoing.Sent.MORE) {
            execute(home);
        }
        return losses.lose(from, taken(), cause, true);
    }

    /** How long an attempt to connect may take, so that what waits is told of in time. */
    synchronized int reachMillis() {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(reachDeadlineNanos - System.nanoTime()) + 1, 1,
                Integer.MAX_VALUE);
    }

    /** An attempt to connect has failed. */
    void unreachable(Throwable cause) {
        Losses.Loss loss;
        synchronized (this) {
            if (!connecting) {
                return;
            }
            if (current == null && !closed && System.nanoTime() - reachDeadlineNanos < 0) {
                home.schedule(() -> node.connect(this, home), RETRY_MILLIS, TimeUnit.MILLISECONDS);
                return;
            }
            connecting = false;
            if (current != null) {
                return;
            }
            paused = true;
            pauseEndNanos = System.nanoTime() + PAUSE_NANOS;
            loss = giveUp(new MessagingException.NodeLost("node " + id + " cannot be reached: " + cause.getMessage(), cause));
        }
        losses.tell(loss);
    }

    // ------------------------------------------------------------------------------------------- connections

    /** A connection knows whom it leads to. On its loop. */
    void ready(Connection connection, long itsIncarnation) {
        synchronized (this) {
            if (incarnation != itsIncarnation) {
                // It has been started again; what the one before has not acknowledged, this one has not either.
                connections.forEach(before -> before.fail(new MessagingException.NodeLost(
                        "node " + id + " has been started again", null)));
                incarnation = itsIncarnation;
            }
            if (connections.isEmpty()) {
                presence.connected();
            }
            connections.add(connection);
            connecting &= !connection.isDialed();
            paused = false;
            use(connection);
        }
        presence.tell();
        drain();
    }

    /**
     * With the lock: messages go over this one, if they go nowhere. Not before the one that they went over has ended: what
     * comes by two connections comes in any order.
     */
    private void use(Connection connection) {
        if (current == null && connection.isUsable()
                && connections.stream().noneMatch(before -> before != connection && before.sentUpTo() >= 0)) {
            connection.sendsFrom(taken());
            if (outgoing != null) {
                outgoing.connected();
            }
            current = connection;
        }
    }

    /** The connection's channel takes more; on its loop, also while that sends. */
    void writable(Connection connection) {
        if (current == connection && outgoing != null && outgoing.waitsForChannel()) {
            drainSoon();
        }
    }

    /** Whether the connection has a part of a message, and not all; on its loop. */
    boolean isInTheMiddle(Connection connection) {
        return current == connection && outgoing != null && outgoing.isInTheMiddle();
    }

    /** Whether the connection that messages go over is to be closed: no message in fragments may begin. Any thread may call. */
    boolean isLeaving() {
        Connection connection = current;
        return connection != null && connection.isLeaving();
    }

    /** Nothing is sent over it any more; on its loop. */
    synchronized void abandon(Connection connection) {
        if (current == connection) {
            connection.sendsUpTo(taken());
            connection.moderation().end();
            current = null;
            if (outgoing != null) {
                outgoing.released();
            }
            connections.forEach(this::use);
        }
    }

    /**
     * It is about to end, and what has not been sent waits for another one; on its loop. If that is sending now, it is said again
     * afterwards.
     */
    void failed(Connection connection) {
        if (current == connection && !draining) {
            abandon(connection);
            drainSoon();
        }
    }

    /** It has ended; on its loop. @param failure why, or {@code null} if the peer has closed it */
    void lost(Connection connection, Throwable failure, boolean inOrder) {
        Throwable cause = failure != null ? failure
                : new MessagingException.NodeLost("node " + id + " has closed the connection", null);
        Losses.Loss loss = null;
        synchronized (this) {
            abandon(connection);
            connections.remove(connection);
            if (connections.isEmpty()) {
                presence.disconnected(inOrder ? null : cause);
            }
            long from = connection.unacknowledgedFrom();
            long to = connection.sentUpTo();
            if (to >= 0) {
                loss = losses.lose(from, to, cause, !inOrder || from < to);
            }
            // Behind that: what another one sends is acknowledged without a look at the lock, and must not be so before.
            connections.forEach(this::use);
        }
        if (loss != null) {
            losses.tell(loss);
        }
        presence.tell();
        drainSoon();
    }

    void acknowledged(long position) {
        deliveries.acknowledge(position);
    }

    /** Any thread may call. */
    Outgoing outgoing() {
        Outgoing there = outgoing;
        return there != null ? there : newOutgoing();
    }

    private synchronized Outgoing newOutgoing() {
        if (outgoing == null) {
            Outgoing made = new Outgoing(this, node);
            if (closing) {
                made.close();
            }
            outgoing = made;
        }
        return outgoing;
    }

    /** Up to which position messages have been given to a channel, or discarded. */
    long taken() {
        Outgoing there = outgoing;
        return there == null ? 0 : there.taken();
    }

    Inbox inbox() {
        return inbox;
    }

    synchronized List<Connection> connections() {
        return List.copyOf(connections);
    }

    /** Whether all that was sent has been acknowledged or told. */
    boolean isSettled() {
        synchronized (this) {
            if (outgoing != null && !outgoing.isEmpty()) {
                return false;
            }
            if (current == null) {
                return connections.stream().noneMatch(Connection::isUnacknowledged);
            }
            return deliveries.acknowledged() >= taken() || deliveries.isLost(taken() - 1);
        }
    }

    /** No message is taken any more. */
    synchronized void close() {
        closing = true;
        if (outgoing != null) {
            outgoing.close();
        }
    }

    synchronized boolean isClosing() {
        return closing;
    }

    /** What has not been sent will not be. */
    void end() {
        inbox.close();
        synchronized (this) {
            closed = true;
            // Of a request that is being written now nobody tells but who writes it.
            asking.lost(Long.MAX_VALUE);
        }
        node.requests().fail(this, Long.MAX_VALUE, new MessagingException.NodeLost("this node has been closed", null));
        drainSoon();
    }

    @Override
    public String toString() {
        return "node " + id;
    }
}
