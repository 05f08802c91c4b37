// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpMemory;
import io.github.nettyucx.ucp.UcpRemoteKey;
import io.github.nettyucx.ucp.UcpRma;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Writing to and reading from the memory of a peer, whose program takes no part in it. */
public final class RemoteMemoryDemo {

    private static final int SIZE = 1 << 20;
    private static final int OFFSET = 4096;

    private RemoteMemoryDemo() {
    }

    public static void main(String[] args) throws UcxException {
        try (Conversation talk = Conversation.overListener(UcpFeature.RMA);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = talk.context.map(arena.allocate(SIZE))) {
            // The server would send these two to the client, in a message of any kind.
            byte[] packedKey = memory.packRemoteKey();
            long remoteAddress = memory.segment().address();
            System.out.println("the key of " + SIZE + " bytes takes " + packedKey.length);

            try (UcpRemoteKey key = talk.client.unpackRemoteKey(packedKey)) {
                MemorySegment text = arena.allocateFrom("put here by the client");
                talk.complete(UcpRma.putNbx(talk.client.address(), text.address(), text.byteSize(),
                        remoteAddress + OFFSET, key.address(), talk.plain));
                // The put is complete when its buffer is free again; the flush, when the bytes are there.
                talk.complete(talk.client.flushNbx(talk.plain));
                System.out.println("the server finds: " + memory.segment().getString(OFFSET));

                memory.segment().setString(0, "put here by the server");
                MemorySegment copy = arena.allocate(64);
                talk.complete(UcpRma.getNbx(talk.client.address(), copy.address(), copy.byteSize(), remoteAddress,
                        key.address(), talk.plain));
                System.out.println("the client reads: " + copy.getString(0));
            }
        }
    }
}
