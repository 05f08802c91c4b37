// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.channel.UcxEventLoop;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.log.cluster.ClusterState.RejectedException;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.GatheredWrites;
import io.github.nettyucx.examples.log.protocol.Message.Access;
import io.github.nettyucx.examples.log.protocol.Message.Adopt;
import io.github.nettyucx.examples.log.protocol.Message.AskStatistics;
import io.github.nettyucx.examples.log.protocol.Message.Fetch;
import io.github.nettyucx.examples.log.protocol.Message.FindLeader;
import io.github.nettyucx.examples.log.protocol.Message.Follow;
import io.github.nettyucx.examples.log.protocol.Message.Full;
import io.github.nettyucx.examples.log.protocol.Message.Leave;
import io.github.nettyucx.examples.log.protocol.Message.Locate;
import io.github.nettyucx.examples.log.protocol.Message.OpenSlots;
import io.github.nettyucx.examples.log.protocol.Message.OpenTopic;
import io.github.nettyucx.examples.log.protocol.Message.Produce;
import io.github.nettyucx.examples.log.protocol.Message.Released;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/** One client, or a leader. It has messages carried out, and hands on what is told of memory. */
final class BrokerHandler extends SimpleChannelInboundHandler<Message> implements Peer {
    private final Topics topics;
    /** {@code null} for a broker that is by itself. */
    private final Leadership leadership;
    private ChannelHandlerContext context;
    private GatheredWrites writes;
    /** What came while the peer did not take its answers: one that asks and takes nothing would have all of the memory. */
    private final Queue<Message> held = new ArrayDeque<>();

    BrokerHandler(Topics topics, Leadership leadership) {
        this.topics = topics;
        this.leadership = leadership;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        writes = new GatheredWrites(added);
        if (leadership != null) {
            leadership.opened(this);
        }
    }

    // ------------------------------------------------------------------------------------------- as a peer

    @Override
    public void send(Message message) {
        if (!context.channel().isActive()) {
            // It has gone, and nobody waits for an answer.
            message.release();
            return;
        }
        writes.add(message);
    }

    @Override
    public void disconnect() {
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }

    /** The broker does not lead any more. */
    void dismiss(String text) {
        fail(Message.UNASKED, ErrorCode.NOT_LEADER, text);
        disconnect();
    }

    // ------------------------------------------------------------------------------------------- what comes

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, Message message) {
        if (held.isEmpty() && ctx.channel().isWritable()) {
            take(message);
        } else {
            held.add(message);
            ctx.channel().config().setAutoRead(false);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        while (!held.isEmpty() && ctx.channel().isWritable()) {
            take(held.remove());
            if (held.isEmpty()) {
                ctx.channel().config().setAutoRead(true);
            }
        }
        ctx.fireChannelWritabilityChanged();
    }

    private void take(Message message) {
        switch (message) {
            case FindLeader m -> send(leadership == null ? new Message.Leader(m.request(), 0, ownAddress())
                    : new Message.Leader(m.request(), leadership.epoch(), leadership.leaderAddress()));
            case Follow m -> follow(m);
            case AskStatistics m -> send(statistics(m.request()));
            case Adopt m when leadership != null && leadership.isLeader(this) ->
                    withPartition(m.request(), m.partition(), partition -> adopt(partition, m));
            default -> {
                if (leadership == null || leadership.isLeading() || leadership.isLeader(this)) {
                    carryOut(message);
                } else {
                    refuse(message);
                }
            }
        }
    }

    /** The broker does not lead, and this is no leader's connection. */
    private void refuse(Message message) {
        message.release();
        var request = switch (message) {
            case Produce m -> m.request();
            case Fetch m -> m.request();
            case Leave m -> m.request();
            case Access m -> m.request();
            case Locate m -> m.request();
            case OpenSlots m -> m.request();
            case OpenTopic m -> m.request();
            case Adopt m -> m.request();
            default -> Message.UNASKED;
        };
        if (request != Message.UNASKED) {
            fail(request, ErrorCode.NOT_LEADER, leadership.notLeading());
        }
    }

    private void follow(Follow follow) {
        var fault = leadership == null ? "this broker is of no cluster" : leadership.follow(this, follow.epoch(),
                follow.cluster());
        if (fault == null) {
            send(new Message.Done(follow.request()));
        } else {
            fail(follow.request(), ErrorCode.FENCED, fault);
        }
    }

    private void adopt(Partition partition, Adopt adopt) {
        try {
            send(new Message.Adopted(adopt.request(), partition.adopt(new History(adopt.end(), adopt.epochs()))));
        } catch (IOException e) {
            fail(adopt.request(), ErrorCode.STORAGE, Explanation.of(e));
        }
    }

    private String ownAddress() {
        return HostAndPort.of((InetSocketAddress) context.channel().localAddress()).toString();
    }

    private void carryOut(Message message) {
        switch (message) {
            case Produce m -> {
                if (topics.partition(m.partition()) == null) {
                    m.release();
                }
                withPartition(m.request(), m.partition(), partition -> partition.produce(this, m.request(), m.records()));
            }
            case Fetch m -> withPartition(m.request(), m.partition(), partition -> partition.fetch(this, m));
            case Full m -> withPartition(Message.UNASKED, m.partition(), partition -> partition.full(this, m));
            case Released m -> withPartition(Message.UNASKED, m.partition(),
                    partition -> partition.released(this, m.generation()));
            case Leave m -> withPartition(m.request(), m.partition(), partition -> partition.leave(this, m.request()));
            case Access m -> withMemory(m.request(), m.partition(),
                    partition -> partition.access(this, m.request(), m.mode()));
            case Locate m -> withMemory(m.request(), m.partition(),
                    partition -> partition.locate(this, m.request(), m.offset()));
            case OpenSlots m -> {
                if (hasMemory(m.request())) {
                    openSlots(m.request());
                }
            }
            case OpenTopic m -> openTopic(m);
            default -> {
                message.release();
                fail(Message.UNASKED, ErrorCode.BAD_REQUEST, "the broker answers requests, and got "
                        + message.getClass().getSimpleName());
            }
        }
    }

    private void openSlots(int request) {
        byte[] key;
        try {
            key = topics.slots().exportKey();
        } catch (OutOfMemoryError e) {
            fail(request, ErrorCode.NO_MEMORY, "the broker has no memory for the slots: " + Explanation.of(e)
                    + ". Consume by message, or try later.");
            return;
        }
        send(new Message.Slots(request, key));
    }

    private void withPartition(int request, int number, Consumer<Partition> action) {
        var partition = topics.partition(number);
        if (partition == null) {
            fail(request, ErrorCode.UNKNOWN_PARTITION, "there is no partition " + number + " (expected: 0 to "
                    + (topics.partitions().size() - 1) + "). Open the topic first.");
        } else {
            action.accept(partition);
        }
    }

    private void withMemory(int request, int number, Consumer<Partition> action) {
        if (hasMemory(request)) {
            withPartition(request, number, action);
        }
    }

    private boolean hasMemory(int request) {
        var channel = context.channel();
        if (channel instanceof UcxSocketChannel ucx && !"socket".equals(ucx.lane())) {
            return true;
        }
        fail(request, ErrorCode.UNSUPPORTED, "this connection has no access to memory: that needs the ucx transport, and"
                + " another lane than socket. Produce and consume by message.");
        return false;
    }

    private void openTopic(OpenTopic open) {
        try {
            var topic = topics.find(open.name(), open.partitions());
            if (topic == null && leadership != null && leadership.isLeading()) {
                leadership.makeTopic(open.name(), open.partitions(), (made, cause) -> answer(open, made, cause));
            } else {
                answer(open, topic != null ? topic : topics.openTopic(open.name(), open.partitions(), context.executor()),
                        null);
            }
        } catch (IllegalArgumentException e) {
            fail(open.request(), ErrorCode.BAD_REQUEST, e.getMessage());
        } catch (IOException e) {
            fail(open.request(), ErrorCode.STORAGE, "the topic cannot be made: " + Explanation.of(e));
        }
    }

    private void answer(OpenTopic open, Topics.Topic topic, Throwable cause) {
        if (topic != null) {
            send(new Message.Topic(open.request(), topic.first(), topic.partitions()));
        } else if (cause == null || !leadership.isLeading()) {
            fail(open.request(), ErrorCode.NOT_LEADER, leadership.notLeading());
        } else {
            fail(open.request(), cause instanceof RejectedException ? ErrorCode.BAD_REQUEST : ErrorCode.STORAGE,
                    "the topic cannot be made: " + Explanation.of(cause));
        }
    }

    private Message.Statistics statistics(int request) {
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Message.Statistics(request,
                topics.partitions().stream().mapToLong(Partition::committedRecords).sum(),
                topics.partitions().stream().mapToLong(Partition::committedBytes).sum(), process.getProcessCpuTime(),
                context.channel().eventLoop() instanceof UcxEventLoop loop ? loop.metrics().progressCallsWithWork() : 0,
                topics.followersInSync());
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof UcxMemoryNotification put) {
            var partition = topics.of(put.memory());
            // Otherwise it came too late: its sender has been told that the segment is sealed.
            if (partition != null) {
                partition.written(this, put);
            }
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        held.forEach(Message::release);
        held.clear();
        if (leadership != null) {
            leadership.closed(this);
        }
        topics.partitions().forEach(partition -> partition.gone(this));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: " + Explanation.of(cause));
        ctx.close();
    }
}
