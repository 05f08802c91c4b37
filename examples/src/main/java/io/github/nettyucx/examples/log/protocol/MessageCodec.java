// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

import io.github.nettyucx.examples.log.protocol.Message.Access;
import io.github.nettyucx.examples.log.protocol.Message.Adopt;
import io.github.nettyucx.examples.log.protocol.Message.Adopted;
import io.github.nettyucx.examples.log.protocol.Message.AskStatistics;
import io.github.nettyucx.examples.log.protocol.Message.Denied;
import io.github.nettyucx.examples.log.protocol.Message.Done;
import io.github.nettyucx.examples.log.protocol.Message.Failed;
import io.github.nettyucx.examples.log.protocol.Message.Fetch;
import io.github.nettyucx.examples.log.protocol.Message.Fetched;
import io.github.nettyucx.examples.log.protocol.Message.FindLeader;
import io.github.nettyucx.examples.log.protocol.Message.Follow;
import io.github.nettyucx.examples.log.protocol.Message.Full;
import io.github.nettyucx.examples.log.protocol.Message.Granted;
import io.github.nettyucx.examples.log.protocol.Message.Leader;
import io.github.nettyucx.examples.log.protocol.Message.Leave;
import io.github.nettyucx.examples.log.protocol.Message.Locate;
import io.github.nettyucx.examples.log.protocol.Message.Located;
import io.github.nettyucx.examples.log.protocol.Message.OpenSlots;
import io.github.nettyucx.examples.log.protocol.Message.OpenTopic;
import io.github.nettyucx.examples.log.protocol.Message.PartlyProduced;
import io.github.nettyucx.examples.log.protocol.Message.Produce;
import io.github.nettyucx.examples.log.protocol.Message.Produced;
import io.github.nettyucx.examples.log.protocol.Message.Released;
import io.github.nettyucx.examples.log.protocol.Message.Sealed;
import io.github.nettyucx.examples.log.protocol.Message.Slots;
import io.github.nettyucx.examples.log.protocol.Message.Statistics;
import io.github.nettyucx.examples.log.protocol.Message.Topic;
import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.MessageToMessageCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A frame is 4 bytes length of the rest, 1 byte kind, and what the kind has; big-endian. */
public final class MessageCodec extends MessageToMessageCodec<ByteBuf, Message> {
    /** Records, and whatever a message has beside them. */
    private static final int MAX_FRAME = Records.MAX_LENGTH + (1 << 20);
    private static final int LENGTH_BYTES = 4;
    private static final int HEAD = 64;

    /** Adds all that turns bytes into messages. */
    public static void addTo(ChannelPipeline pipeline) {
        pipeline.addLast(new LengthFieldBasedFrameDecoder(MAX_FRAME, 0, LENGTH_BYTES, 0, LENGTH_BYTES),
                new MessageCodec());
    }

    @Override
    protected void encode(ChannelHandlerContext context, Message message, List<Object> out) {
        var head = context.alloc().directBuffer(HEAD).writeZero(LENGTH_BYTES);
        var body = Unpooled.EMPTY_BUFFER;
        switch (message) {
            case OpenTopic m -> writeText(head.writeByte(1).writeInt(m.request()).writeInt(m.partitions()), m.name());
            case Produce m -> {
                head.writeByte(2).writeInt(m.request()).writeInt(m.partition());
                body = m.records();
            }
            case Fetch m -> head.writeByte(3).writeInt(m.request()).writeInt(m.partition()).writeLong(m.offset())
                    .writeInt(m.maxBytes()).writeInt(m.waitMillis());
            case Access m -> head.writeByte(4).writeInt(m.request()).writeInt(m.partition())
                    .writeByte(m.mode().ordinal());
            case Full m -> head.writeByte(5).writeInt(m.partition()).writeInt(m.generation()).writeInt(m.turn())
                    .writeLong(m.position());
            case Leave m -> head.writeByte(6).writeInt(m.request()).writeInt(m.partition());
            case Locate m -> head.writeByte(7).writeInt(m.request()).writeInt(m.partition()).writeLong(m.offset());
            case OpenSlots m -> head.writeByte(8).writeInt(m.request());
            case AskStatistics m -> head.writeByte(9).writeInt(m.request());
            case Topic m -> head.writeByte(10).writeInt(m.request()).writeInt(m.first()).writeInt(m.partitions());
            case Produced m -> head.writeByte(11).writeInt(m.request()).writeLong(m.offset());
            case Fetched m -> {
                head.writeByte(12).writeInt(m.request()).writeLong(m.next());
                body = m.records();
            }
            case Granted m -> head.writeByte(13).writeInt(m.request()).writeInt(m.partition())
                    .writeInt(m.generation()).writeByte(m.mode().ordinal()).writeLong(m.position())
                    .writeLong(m.capacity()).writeLong(m.next()).writeBytes(m.key());
            case Done m -> head.writeByte(14).writeInt(m.request());
            case Located m -> head.writeByte(15).writeInt(m.request()).writeInt(m.generation()).writeLong(m.position())
                    .writeLong(m.readable()).writeBytes(m.key());
            case Slots m -> head.writeByte(16).writeInt(m.request()).writeBytes(m.key());
            case Statistics m -> head.writeByte(17).writeInt(m.request()).writeLong(m.records()).writeLong(m.bytes())
                    .writeLong(m.cpuNanos()).writeLong(m.turns()).writeInt(m.followersInSync());
            case Failed m -> writeText(head.writeByte(18).writeInt(m.request()).writeByte(m.code().ordinal()), m.text());
            case Sealed m -> head.writeByte(19).writeInt(m.partition()).writeInt(m.generation())
                    .writeByte(m.reason().ordinal());
            case FindLeader m -> head.writeByte(20).writeInt(m.request());
            case Follow m -> writeText(head.writeByte(21).writeInt(m.request()).writeLong(m.epoch()), m.cluster());
            case Adopt m -> {
                head.writeByte(22).writeInt(m.request()).writeInt(m.partition()).writeLong(m.end());
                m.epochs().forEach(entry -> head.writeLong(entry.epoch()).writeLong(entry.start()));
            }
            case Leader m -> writeText(head.writeByte(23).writeInt(m.request()).writeLong(m.epoch()), m.address());
            case Released m -> head.writeByte(25).writeInt(m.partition()).writeInt(m.generation());
            case Adopted m -> head.writeByte(24).writeInt(m.request()).writeLong(m.next());
            case PartlyProduced m -> head.writeByte(26).writeInt(m.request()).writeLong(m.offset()).writeInt(m.length());
            case Denied m -> writeText(head.writeByte(27).writeInt(m.partition()).writeByte(m.code().ordinal()), m.text());
        }
        head.setInt(0, head.readableBytes() - LENGTH_BYTES + body.readableBytes());
        out.add(head);
        if (body.isReadable()) {
            out.add(body);
        } else {
            body.release();
        }
    }

    private static void writeText(ByteBuf out, String text) {
        out.writeCharSequence(text, StandardCharsets.UTF_8);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        try {
            out.add(decode(in));
        } catch (IndexOutOfBoundsException e) {
            throw new CorruptedFrameException("a message ends too early: it is not the log's protocol, or another version",
                    e);
        }
    }

    private static Message decode(ByteBuf in) {
        var kind = in.readByte();
        return switch (kind) {
            case 1 -> new OpenTopic(in.readInt(), in.readInt(), readText(in));
            case 2 -> new Produce(in.readInt(), in.readInt(), rest(in));
            case 3 -> new Fetch(in.readInt(), in.readInt(), in.readLong(), in.readInt(), in.readInt());
            case 4 -> new Access(in.readInt(), in.readInt(), constant(AccessMode.values(), in));
            case 5 -> new Full(in.readInt(), in.readInt(), in.readInt(), in.readLong());
            case 6 -> new Leave(in.readInt(), in.readInt());
            case 7 -> new Locate(in.readInt(), in.readInt(), in.readLong());
            case 8 -> new OpenSlots(in.readInt());
            case 9 -> new AskStatistics(in.readInt());
            case 10 -> new Topic(in.readInt(), in.readInt(), in.readInt());
            case 11 -> new Produced(in.readInt(), in.readLong());
            case 12 -> new Fetched(in.readInt(), in.readLong(), rest(in));
            case 13 -> new Granted(in.readInt(), in.readInt(), in.readInt(), constant(AccessMode.values(), in),
                    in.readLong(), in.readLong(), in.readLong(), readBytes(in));
            case 14 -> new Done(in.readInt());
            case 15 -> new Located(in.readInt(), in.readInt(), in.readLong(), in.readLong(), readBytes(in));
            case 16 -> new Slots(in.readInt(), readBytes(in));
            case 17 -> new Statistics(in.readInt(), in.readLong(), in.readLong(), in.readLong(), in.readLong(),
                    in.readInt());
            case 18 -> new Failed(in.readInt(), constant(ErrorCode.values(), in), readText(in));
            case 19 -> new Sealed(in.readInt(), in.readInt(), constant(SealReason.values(), in));
            case 20 -> new FindLeader(in.readInt());
            case 21 -> new Follow(in.readInt(), in.readLong(), readText(in));
            case 22 -> new Adopt(in.readInt(), in.readInt(), in.readLong(), readEpochs(in));
            case 23 -> new Leader(in.readInt(), in.readLong(), readText(in));
            case 24 -> new Adopted(in.readInt(), in.readLong());
            case 25 -> new Released(in.readInt(), in.readInt());
            case 26 -> new PartlyProduced(in.readInt(), in.readLong(), in.readInt());
            case 27 -> new Denied(in.readInt(), constant(ErrorCode.values(), in), readText(in));
            default -> throw new CorruptedFrameException("a message is of kind " + kind
                    + " (expected: 1 to 27): it is not the log's protocol, or another version");
        };
    }

    private static <E extends Enum<E>> E constant(E[] values, ByteBuf in) {
        var ordinal = in.readUnsignedByte();
        if (ordinal >= values.length) {
            throw new CorruptedFrameException("a message has " + ordinal + " for " + values[0].getDeclaringClass()
                    .getSimpleName() + " (expected: 0 to " + (values.length - 1) + ")");
        }
        return values[ordinal];
    }

    private static List<EpochHistory.Entry> readEpochs(ByteBuf in) {
        var epochs = new ArrayList<EpochHistory.Entry>();
        while (in.isReadable()) {
            epochs.add(new EpochHistory.Entry(in.readLong(), in.readLong()));
        }
        return epochs;
    }

    private static ByteBuf rest(ByteBuf in) {
        return in.readRetainedSlice(in.readableBytes());
    }

    private static byte[] readBytes(ByteBuf in) {
        var bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return bytes;
    }

    private static String readText(ByteBuf in) {
        return in.readCharSequence(in.readableBytes(), StandardCharsets.UTF_8).toString();
    }
}
