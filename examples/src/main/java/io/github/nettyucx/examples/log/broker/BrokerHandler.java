// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.Message.Access;
import io.github.nettyucx.examples.log.protocol.Message.AskStatistics;
import io.github.nettyucx.examples.log.protocol.Message.Fetch;
import io.github.nettyucx.examples.log.protocol.Message.Full;
import io.github.nettyucx.examples.log.protocol.Message.Leave;
import io.github.nettyucx.examples.log.protocol.Message.Locate;
import io.github.nettyucx.examples.log.protocol.Message.OpenSlots;
import io.github.nettyucx.examples.log.protocol.Message.OpenTopic;
import io.github.nettyucx.examples.log.protocol.Message.Produce;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.function.Consumer;

/** One client. It has messages carried out, and hands on what is told of memory. */
final class BrokerHandler extends SimpleChannelInboundHandler<Message> implements Peer {
    private final Topics topics;
    private ChannelHandlerContext context;
    private boolean flushing;

    BrokerHandler(Topics topics) {
        this.topics = topics;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    // ------------------------------------------------------------------------------------------- as a peer

    @Override
    public void send(Message message) {
        if (!context.channel().isActive()) {
            // It has gone, and nobody waits for an answer.
            if (message instanceof Message.Fetched fetched) {
                fetched.records().release();
            }
            return;
        }
        context.write(message, context.voidPromise());
        if (!flushing) {
            flushing = true;
            context.executor().execute(() -> {
                flushing = false;
                context.flush();
            });
        }
    }

    @Override
    public void disconnect() {
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }

    // ------------------------------------------------------------------------------------------- what comes

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, Message message) {
        switch (message) {
            case Produce m -> {
                if (topics.partition(m.partition()) == null) {
                    m.records().release();
                }
                withPartition(m.request(), m.partition(), partition -> partition.produce(this, m.request(), m.records()));
            }
            case Fetch m -> withPartition(m.request(), m.partition(), partition -> partition.fetch(this, m));
            case Full m -> withPartition(Message.UNASKED, m.partition(), partition -> partition.full(this, m));
            case Leave m -> withPartition(m.request(), m.partition(), partition -> partition.leave(this, m.request()));
            case Access m -> withMemory(m.request(), m.partition(),
                    partition -> partition.access(this, m.request(), m.mode()));
            case Locate m -> withMemory(m.request(), m.partition(),
                    partition -> partition.locate(this, m.request(), m.offset()));
            case OpenSlots m -> {
                if (hasMemory(m.request())) {
                    send(new Message.Slots(m.request(), topics.slots().exportKey()));
                }
            }
            case OpenTopic m -> openTopic(m);
            case AskStatistics m -> send(statistics(m.request()));
            default -> fail(Message.UNASKED, ErrorCode.BAD_REQUEST, "the broker answers requests, and got "
                    + message.getClass().getSimpleName());
        }
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
            var topic = topics.openTopic(open.name(), open.partitions(), context.executor());
            send(new Message.Topic(open.request(), topic.first(), topic.partitions()));
        } catch (IllegalArgumentException e) {
            fail(open.request(), ErrorCode.BAD_REQUEST, e.getMessage());
        } catch (IOException e) {
            fail(open.request(), ErrorCode.STORAGE, "the topic cannot be made: " + Explanation.of(e));
        }
    }

    private Message.Statistics statistics(int request) {
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Message.Statistics(request,
                topics.partitions().stream().mapToLong(Partition::committedRecords).sum(),
                topics.partitions().stream().mapToLong(Partition::committedBytes).sum(), process.getProcessCpuTime(),
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
        topics.partitions().forEach(partition -> partition.gone(this));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: " + Explanation.of(cause));
        ctx.close();
    }
}
