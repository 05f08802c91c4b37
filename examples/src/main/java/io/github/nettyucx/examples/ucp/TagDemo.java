// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Messages with tags: one is received by asking for its tag, the other by looking at what has arrived. */
public final class TagDemo {

    private static final long GREETING = 0x1;
    private static final long PICTURE = 0x2;
    private static final int PICTURE_SIZE = 4 << 20;
    private static final long EXACTLY = -1;
    private static final long WHATEVER = 0;

    private TagDemo() {
    }

    public static void main(String[] args) throws UcxException {
        try (Conversation talk = Conversation.overListener(UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
            MemorySegment greeting = arena.allocateFrom("Hello over UCX");
            MemorySegment received = arena.allocate(64);
            long receive = UcpTag.receiveNbx(talk.serverWorker.address(), received.address(), received.byteSize(),
                    GREETING, EXACTLY, talk.plain);
            talk.complete(UcpTag.sendNbx(
                    talk.client.address(), greeting.address(), greeting.byteSize(), GREETING, talk.plain));
            talk.complete(receive);
            System.out.println("with tag " + GREETING + ": " + received.getString(0));

            // Large enough for a rendezvous: the message is only announced, until somebody has a place for it.
            MemorySegment picture = arena.allocate(PICTURE_SIZE).fill((byte) 7);
            long send = UcpTag.sendNbx(talk.client.address(), picture.address(), PICTURE_SIZE, PICTURE, talk.plain);
            long info = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES).address();
            long[] message = new long[1];
            talk.until(() -> {
                message[0] = UcpTag.probeNb(talk.serverWorker.address(), WHATEVER, WHATEVER, true, info);
                return message[0] != 0;
            });
            MemorySegment place = arena.allocate(UcpTag.infoLength(info));
            System.out.println("found tag " + UcpTag.infoTag(info) + " with " + place.byteSize() + " bytes");
            talk.complete(UcpTag.messageReceiveNbx(
                    talk.serverWorker.address(), place.address(), place.byteSize(), message[0], talk.plain));
            talk.complete(send);
            System.out.println("its last byte: " + place.get(ValueLayout.JAVA_BYTE, PICTURE_SIZE - 1));
        }
    }
}
