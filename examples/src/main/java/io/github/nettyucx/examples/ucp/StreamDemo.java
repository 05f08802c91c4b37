// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpStream;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** A byte stream, as TCP has it: what was sent in pieces arrives in others. */
public final class StreamDemo {

    private StreamDemo() {
    }

    public static void main(String[] args) throws UcxException {
        try (Conversation talk = Conversation.overListener(UcpFeature.STREAM); Arena arena = Arena.ofConfined()) {
            String[] words = {"a stream ", "has no ", "boundaries"};
            int total = 0;
            for (String word : words) {
                byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                MemorySegment piece = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                talk.complete(UcpStream.sendNbx(talk.client.address(), piece.address(), bytes.length, talk.plain));
                total += bytes.length;
            }

            // Receiving into a buffer of our own…
            MemorySegment start = arena.allocate(8);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_LONG);
            long receive = UcpStream.receiveNbx(
                    talk.server.address(), start.address(), start.byteSize(), length.address(), talk.plain);
            if (UcsStatus.isRequest(receive)) {
                talk.until(() -> UcpStream.testReceive(receive, length.address()) != UcsStatus.INPROGRESS);
            }
            talk.complete(receive);
            long received = length.get(ValueLayout.JAVA_LONG, 0);
            System.out.println("into our buffer: \"" + text(start, received) + '"');

            // …and taking what UCX has, without a copy.
            while (received < total) {
                long[] data = new long[1];
                talk.until(() -> {
                    data[0] = UcpStream.receiveDataNb(talk.server.address(), length.address());
                    return data[0] != 0;
                });
                long count = length.get(ValueLayout.JAVA_LONG, 0);
                System.out.println("in UCX's buffer: \""
                        + text(MemorySegment.ofAddress(data[0]).reinterpret(count), count) + '"');
                UcpStream.dataRelease(talk.server.address(), data[0]);
                received += count;
            }
        }
    }

    private static String text(MemorySegment segment, long length) {
        return new String(segment.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
