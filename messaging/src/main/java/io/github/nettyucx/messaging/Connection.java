// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;

import java.util.concurrent.TimeUnit;

/** A channel between two nodes. Only for its event loop, except where noted. */
final class Connection extends ChannelInboundHandlerAdapter implements Inbox.Source {

    private static final int HELLO_MILLIS = 10_000;
    private static final long ACK_MILLIS = 10;
    /** What has been received is acknowledged at once when it is as much, in bytes. */
    private static final int ACK_BYTES = 256 * 1024;

    private enum State {
        /** The peer has not said who it is. */
        OPENING,
        READY,
        /** We have said that we send nothing more, and wait for the peer to say so. */
        LEAVING,
        /** Both have said so. */
        LEFT,
        CLOSED
    }

    private final Node node;
    private final long goodbyeNanos;
    /** So long the peer's goodbye is left without an answer for a message of which nothing comes. */
    private final long stallNanos;
    /** So often a peer of which nothing is read is shown that it is waited for. */
    private final long lifeNanos;
    /** Whom we have connected to, or {@code null} if we were connected to. */
    private final Peer dialed;
    private final Importer importer = new Importer();
    private final Responder<?> responder = new Responder<>();
    private volatile State state = State.OPENING;
    private Channel channel;
    private EventLoop loop;
    private LoopTurn turn;
    private WakeModeration moderation;
    private FrameReader reader;
    private Reassembly reassembly;
    private Peer peer;
    /** Written on the loop. */
    private volatile Throwable failure;
    private ScheduledFuture<?> limit;
    /** It is to be closed, when no message is in the middle. */
    private volatile boolean leaving;
    /** The peer has said that it sends nothing more. */
    private boolean isLastRead;
    /** Of messages in the middle. */
    private Stall stall;
    /** Nothing is read. Written with the inbox's lock. */
    private volatile boolean paused;
    /** It is going to be looked at whether nothing is read still. */
    private boolean looksAtPause;

    // What comes in. Positions count from the connection's first message.
    private long received;
    private long acknowledgedToPeer;
    private boolean acknowledging;
    private long frames;
    private long bytes;

    // What goes out, in positions of the ring; guarded by the peer's lock.
    private long sentFrom = -1;
    private long sentUpTo = -1;
    private volatile long acknowledged;

    private volatile long usedNanos = System.nanoTime();
    /** When the peer has last shown that it lives, by an acknowledgement if by nothing else. */
    private long heardNanos = usedNanos;

    Connection(Node node, Peer dialed) {
        this.node = node;
        goodbyeNanos = node.settings().goodbyeNanos();
        stallNanos = goodbyeNanos / 2;
        lifeNanos = goodbyeNanos / 4;
        this.dialed = dialed;
    }

    // ------------------------------------------------------------------------------------------- for the peer

    Channel channel() {
        return channel;
    }

    /** Any thread may call, once the connection is ready. */
    EventLoop loop() {
        return loop;
    }

    LoopTurn turn() {
        return turn;
    }

    WakeModeration moderation() {
        return moderation;
    }

    Peer peer() {
        return peer;
    }

    Importer importer() {
        return importer;
    }

    @SuppressWarnings("unchecked")
    <R> Responder<R> responder() {
        return (Responder<R>) responder;
    }

    boolean isDialed() {
        return dialed != null;
    }

    /** Any thread may call. */
    boolean isUsable() {
        return state == State.READY && sentUpTo < 0 && failure == null;
    }

    /** Any thread may call. */
    boolean hasFailed() {
        return failure != null;
    }

    void sendsFrom(long position) {
        sentFrom = position;
        acknowledged = position;
    }

    void sendsUpTo(long position) {
        sentUpTo = position;
    }

    long unacknowledgedFrom() {
        return acknowledged;
    }

    /** -1 if nothing has been sent over it. */
    long sentUpTo() {
        return sentUpTo;
    }

    /** Whether nothing is sent over it any more, and what was sent is not known to have arrived. */
    boolean isUnacknowledged() {
        return acknowledged < sentUpTo;
    }

    void used() {
        usedNanos = System.nanoTime();
    }

    /** Any thread may call. */
    long usedNanos() {
        return usedNanos;
    }

    /**
     * Whether something is under way over it, in either direction: what was sent is not acknowledged, or nothing is read. Any
     * thread may call; on another one than the loop it is a guess.
     */
    boolean isBusy() {
        long sent = sentUpTo < 0 ? peer.taken() : sentUpTo;
        return paused || sentFrom >= 0 && acknowledged < sent;
    }

    @Override
    public void pauseReading(boolean paused) {
        this.paused = paused;
        if (!paused) {
            // What has come meanwhile is about to be read.
            used();
        }
        try {
            channel.config().setAutoRead(!paused);
            if (paused && !looksAtPause) {
                looksAtPause = true;
                loop.schedule(this::showLife, lifeNanos, TimeUnit.NANOSECONDS);
            }
        } catch (RuntimeException e) {
            // Its loop has ended, and a pool still handles what was read before; or it has no room for a task.
            if (!paused) {
                LoopTask.execute(loop, this::readIfWanted);
            }
        }
    }

    private void readIfWanted() {
        if (!paused) {
            channel.read();
        }
    }

    // ------------------------------------------------------------------------------------------- beginning

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channel = context.channel();
        loop = channel.eventLoop();
        turn = node.turn(loop);
        reader = new FrameReader(channel.alloc(), this::frame);
        reassembly = new Reassembly(channel.alloc(), node.settings().maxMessage(),
                (kind, type, buffer, begin, end) -> node.handlers().handle(this, kind, type, buffer, begin, end));
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        Hello hello = new Hello(node.id(), dialed == null ? Hello.ANYBODY : dialed.id(), node.incarnation());
        channel.writeAndFlush(hello.encode(channel.alloc()), channel.voidPromise());
        int millis = dialed == null ? HELLO_MILLIS : Math.min(HELLO_MILLIS, dialed.reachMillis());
        limit = loop.schedule(() -> fail(new MessagingException("no HELLO within " + millis + " ms")), millis,
                TimeUnit.MILLISECONDS);
        context.fireChannelActive();
    }

    private void hello(Hello hello) {
        if (state != State.OPENING) {
            throw new IllegalArgumentException("a second HELLO");
        }
        if (hello.wanted() != Hello.ANYBODY && hello.wanted() != node.id()) {
            throw new IllegalArgumentException("node " + hello.node() + " wants node " + hello.wanted() + ", but this is node "
                    + node.id() + ": is the address that it has for that node right?");
        }
        if (dialed != null && dialed.id() != hello.node() || hello.node() == node.id()) {
            throw new IllegalArgumentException("this is node " + hello.node() + (dialed == null ? ", as we are"
                    : ", and not node " + dialed.id() + ": is the address that this node has for it right?"));
        }
        limit.cancel(false);
        peer = node.met(hello.node());
        moderation = new WakeModeration(loop, peer::drain);
        stall = new Stall(stallNanos, loop, peer, this::leaveIfWhole);
        state = State.READY;
        reader.trust();
        node.opened(this);
        peer.ready(this, hello.incarnation());
    }

    // ------------------------------------------------------------------------------------------- reading

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            if (state != State.CLOSED && failure == null) {
                turn.begin();
                bytes += in.readableBytes();
                reader.read(in);
            }
        } catch (IllegalArgumentException e) {
            fail(e);
        } finally {
            in.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        boolean hasRead = frames > 0;
        // The first bytes of a message count with the others.
        if (hasRead) {
            turn.counters().received(frames, bytes);
            frames = 0;
            bytes = 0;
        }
        if (received - acknowledgedToPeer >= ACK_BYTES) {
            acknowledgeNow();
        } else if (received != acknowledgedToPeer && !acknowledging) {
            acknowledging = true;
            loop.schedule(this::acknowledgeLater, ACK_MILLIS, TimeUnit.MILLISECONDS);
        }
        long before = usedNanos;
        turn.end();
        // Answers have gone out before anybody asks for the time, and who sends them has asked.
        if (hasRead && usedNanos == before) {
            used();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (peer != null && channel.isWritable()) {
            peer.writable(this);
            if (received != acknowledgedToPeer) {
                acknowledgeNow();
            }
        }
        context.fireChannelWritabilityChanged();
    }

    private void frame(long word, ByteBuf buffer, int begin, int end) {
        int kind = Frame.kind(word);
        if (peer == null && kind != Frame.HELLO) {
            throw new IllegalArgumentException("the first frame is of kind " + kind + " (expected: HELLO, which is "
                    + Frame.HELLO + ")");
        }
        switch (kind) {
            case Frame.MESSAGE, Frame.REQUEST, Frame.RESPONSE, Frame.FAILURE -> {
                count(word);
                node.handlers().handle(this, kind, Frame.type(word), buffer, begin, end);
            }
            case Frame.FRAGMENT -> {
                long position = received;
                count(word);
                reassembly.fragment(Frame.type(word), buffer, begin, end, position);
            }
            case Frame.FRAGMENT_ABORTED -> {
                count(word);
                reassembly.abort(value(buffer, begin, end));
            }
            case Frame.SKIP -> count(word);
            case Frame.PAD -> received += Frame.length(word);
            case Frame.HELLO -> hello(Hello.decode(buffer, begin, end));
            case Frame.ACK -> acknowledged(value(buffer, begin, end));
            case Frame.GOODBYE -> goodbye();
            case Frame.BYE -> bye();
            default -> throw new IllegalArgumentException("a frame of kind " + kind
                    + ", which this version does not know");
        }
    }

    private static long value(ByteBuf buffer, int begin, int end) {
        if (end - begin < Long.BYTES) {
            throw new IllegalArgumentException("a frame of " + (end - begin) + " bytes (expected: " + Long.BYTES + ')');
        }
        return buffer.getLongLE(begin);
    }

    private void count(long word) {
        frames++;
        received += Frame.aligned(Frame.length(word));
    }

    // ------------------------------------------------------------------------------------------- acknowledgements

    private void acknowledgeLater() {
        acknowledging = false;
        if (received != acknowledgedToPeer) {
            acknowledgeNow();
        }
    }

    /** Not to a peer that reads nothing, for which they would heap up: one says it all, when the channel takes it. */
    private void acknowledgeNow() {
        if (channel.isWritable()) {
            acknowledge();
            channel.flush();
        }
    }

    private void acknowledge() {
        long complete = reassembly.complete(received);
        if (complete != acknowledgedToPeer) {
            acknowledgedToPeer = complete;
            control(Frame.ACK, complete);
        }
    }

    /**
     * Who does not read a goodbye cannot answer it. So that the peer waits nevertheless, it is told again what it knows already,
     * for as long as nothing is read.
     */
    private void showLife() {
        // It needs to know nothing more when it has been told that this was all.
        looksAtPause = paused && channel.isActive() && (state == State.READY || !isLastRead);
        if (looksAtPause) {
            if (channel.isWritable()) {
                control(Frame.ACK, acknowledgedToPeer);
                channel.flush();
            }
            loop.schedule(this::showLife, lifeNanos, TimeUnit.NANOSECONDS);
        }
    }

    private void control(int kind, long value) {
        boolean valued = kind == Frame.ACK;
        ByteBuf frame = channel.alloc().directBuffer(16);
        frame.writeLongLE(Frame.word(valued ? 16 : 8, kind, 0));
        if (valued) {
            frame.writeLongLE(value);
        }
        channel.write(frame, channel.voidPromise());
    }

    private void acknowledged(long complete) {
        long sent = sentUpTo < 0 ? peer.taken() : sentUpTo;
        if (sentFrom < 0 || complete < 0 || complete > sent - sentFrom) {
            throw new IllegalArgumentException("ACK of " + complete + " bytes, which were not sent");
        }
        if (sentFrom + complete < acknowledged) {
            // They have been told to be delivered.
            throw new IllegalArgumentException("ACK of " + complete + " bytes (expected: no less than the "
                    + (acknowledged - sentFrom) + " before)");
        }
        heardNanos = System.nanoTime();
        acknowledged = sentFrom + complete;
        peer.acknowledged(acknowledged);
    }

    // ------------------------------------------------------------------------------------------- the end

    /** It will {@link #leave}. Any thread may call. */
    void mustLeave() {
        leaving = true;
    }

    /** Closes the connection in good order. Any thread may call. */
    void leave() {
        leaving = true;
        if (!loop.inEventLoop()) {
            LoopTask.execute(loop, this::leaveIfWhole);
        } else {
            leaveIfWhole();
        }
    }

    /** Any thread may call. */
    boolean isLeaving() {
        return leaving;
    }

    /**
     * The rest of a message that has begun would come to nothing over another connection: it goes over this one. No other
     * message in fragments {@linkplain Peer#isLeaving() begins} meanwhile.
     */
    void leaveIfWhole() {
        if (state != State.READY || peer.isInTheMiddle(this) && !(isLastRead && stall.isThere())) {
            return;
        }
        state = State.LEAVING;
        peer.abandon(this);
        limitGoodbye(goodbyeNanos, false);
        // What has come for the peer in the meantime takes another connection.
        peer.drainSoon();
        acknowledge();
        control(isLastRead ? Frame.BYE : Frame.GOODBYE, 0);
        channel.flush();
    }

    /**
     * The time is that of a peer from which nothing comes. While nothing is read nobody knows.
     *
     * @param isLast whether it was over before. A process that has stood still finds its own time over before a peer that
     *               stood still with it, on the same machine, could say anything
     */
    private void limitGoodbye(long nanos, boolean isLast) {
        limit = loop.schedule(() -> {
            long now = System.nanoTime();
            long left = goodbyeNanos - Math.min(now - usedNanos, now - heardNanos);
            if (left > 0 || paused) {
                // It has something to say before.
                limitGoodbye(left > 0 ? left : stallNanos, false);
            } else if (!isLast) {
                limitGoodbye(lifeNanos, true);
            } else {
                fail(new MessagingException("the peer has not said goodbye within "
                        + TimeUnit.NANOSECONDS.toMillis(goodbyeNanos) + " ms"));
            }
        }, nanos, TimeUnit.NANOSECONDS);
    }

    private void goodbye() {
        if (isLastRead) {
            // Each is answered, and a peer that reads no answers would have them kept.
            throw new IllegalArgumentException("a second GOODBYE");
        }
        isLastRead = true;
        if (state == State.READY) {
            leave();
        } else {
            acknowledge();
            control(Frame.BYE, 0);
            channel.flush();
        }
    }

    private void bye() {
        state = State.LEFT;
        acknowledge();
        channel.flush();
        // Delivers what has been flushed.
        channel.close();
    }

    /** Something is wrong with the connection. Any thread may call. */
    void fail(Throwable cause) {
        if (!loop.inEventLoop()) {
            LoopTask.execute(loop, () -> fail(cause));
        } else if (failure == null) {
            failure = cause;
            if (peer != null) {
                // The channel may take long to end, and would lose what it is given until then.
                peer.failed(this);
            }
            channel.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        State before = state;
        state = State.CLOSED;
        reader.close();
        reassembly.close();
        turn.end();
        if (limit != null) {
            limit.cancel(false);
        }
        if (peer == null) {
            Throwable cause = failure != null ? failure : new MessagingException("the connection has been closed before HELLO");
            Node.LOGGER.debug("A connection has failed before HELLO: {}", channel, cause);
            if (dialed != null) {
                dialed.unreachable(cause);
            }
        } else {
            stall.end();
            // Who has answered a goodbye may be left at once. An end before the answer is none.
            boolean inOrder = (before == State.LEFT || before == State.LEAVING && isLastRead) && failure == null;
            node.closed(this, inOrder);
            peer.lost(this, failure, inOrder);
        }
        context.fireChannelInactive();
    }
}
