// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.MemoryPair.Kind;
import io.github.nettyucx.faults.Child;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.HexFormat;

/** A program that owns memory, or puts to another's, until it is killed. */
final class OneSidedMain {

    /** A peer writes to one place only, again and again. */
    static final int PUT_AT = 10_000;
    static final int PUT_LENGTH = 50_000;
    static final int SIZE = 1 << 20;

    private OneSidedMain() {
    }

    /** @param arguments {@code owner} and the kind of memory; or {@code peer}, the port and the key */
    public static void main(String[] arguments) throws Exception {
        Peers peers = new Peers();
        if (arguments[0].equals("owner")) {
            UcxMemory memory = Kind.valueOf(arguments[1]).allocate(SIZE, MemoryPair.ALL);
            Child.say("key " + HexFormat.of().formatHex(memory.exportKey()));
            Child.say("port " + peers.listen(Inbox::new).localAddress().getPort());
            Child.nextCommand();
            return;
        }
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .connect(Peers.loopback(Integer.parseInt(arguments[1])))).channel();
        UcxRemoteMemory remote = MemoryPair.open(channel, HexFormat.of().parseHex(arguments[2]));
        ByteBuf source = Unpooled.directBuffer(PUT_LENGTH);
        for (int i = 0; i < PUT_LENGTH; i++) {
            source.writeByte(7);
        }
        put(channel, remote, source, 0);
        Child.nextCommand();
    }

    /** So many at a time that some are always under way. */
    private static void put(UcxSocketChannel channel, UcxRemoteMemory remote, ByteBuf source, int round) {
        channel.eventLoop().execute(() -> {
            for (int i = 0; i < 50; i++) {
                remote.putAndNotify(PUT_AT, source.retainedSlice(), i, null, 0);
                remote.fetchAndAdd(0, 1, null, 0);
            }
            if (round == 20) {
                Child.say("ready");
            }
            remote.flush((id, value, cause) -> put(channel, remote, source, round + 1), 0);
        });
    }
}
