// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpActiveMessage;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Messages that call a handler at the receiver: a small one with an answer, and a large one that the receiver
 * fetches.
 */
public final class ActiveMessageDemo {

    private static final int SQUARE = 1;
    private static final int RESULT = 2;
    private static final int PICTURE = 3;
    private static final int PICTURE_SIZE = 4 << 20;

    private ActiveMessageDemo() {
    }

    public static void main(String[] args) throws UcxException {
        try (Conversation talk = Conversation.overListener(UcpFeature.AM); Arena arena = Arena.ofConfined()) {
            callAndAnswer(talk, arena);
            fetch(talk, arena);
        }
    }

    private static void callAndAnswer(Conversation talk, Arena arena) throws UcxException {
        long[] question = new long[2];
        UcpActiveMessage.setHandler(talk.serverWorker, SQUARE, 0, (header, headerLength, data, length, param) -> {
            // A handler only takes note; the answer is sent when progress has returned.
            question[0] = UcpActiveMessage.replyEndpoint(param);
            question[1] = at(data, length).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            return UcsStatus.OK;
        });
        long[] result = {-1};
        UcpActiveMessage.setHandler(talk.clientWorker, RESULT, 0, (header, headerLength, data, length, param) -> {
            result[0] = at(data, length).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            return UcsStatus.OK;
        });

        long withReply = UcpRequestParam.allocate(arena);
        UcpRequestParam.setFlags(withReply, UcpActiveMessage.SEND_FLAG_REPLY);
        MemorySegment number = arena.allocateFrom(ValueLayout.JAVA_LONG, 12);
        talk.complete(UcpActiveMessage.sendNbx(
                talk.client.address(), SQUARE, 0, 0, number.address(), Long.BYTES, withReply));
        talk.until(() -> question[0] != 0);
        MemorySegment square = arena.allocateFrom(ValueLayout.JAVA_LONG, question[1] * question[1]);
        talk.complete(UcpActiveMessage.sendNbx(
                question[0], RESULT, 0, 0, square.address(), Long.BYTES, talk.plain));
        talk.until(() -> result[0] >= 0);
        System.out.println("the square of " + question[1] + " is " + result[0]);
    }

    private static void fetch(Conversation talk, Arena arena) throws UcxException {
        long[] announced = new long[2];
        UcpActiveMessage.setHandler(talk.serverWorker, PICTURE, 0, (header, headerLength, data, length, param) -> {
            System.out.println("announced: " + at(header, headerLength).getString(0) + ", " + length + " bytes");
            announced[0] = data;
            announced[1] = length;
            return UcsStatus.INPROGRESS;
        });
        long rendezvous = UcpRequestParam.allocate(arena);
        UcpRequestParam.setFlags(rendezvous, UcpActiveMessage.SEND_FLAG_RENDEZVOUS);
        MemorySegment name = arena.allocateFrom("picture.png");
        MemorySegment picture = arena.allocate(PICTURE_SIZE).fill((byte) 7);
        long send = UcpActiveMessage.sendNbx(talk.client.address(), PICTURE, name.address(), name.byteSize(),
                picture.address(), PICTURE_SIZE, rendezvous);
        talk.until(() -> announced[0] != 0);
        MemorySegment place = arena.allocate(announced[1]);
        talk.complete(UcpActiveMessage.receiveDataNbx(
                talk.serverWorker.address(), announced[0], place.address(), place.byteSize(), talk.plain));
        talk.complete(send);
        System.out.println("fetched; its last byte: " + place.get(ValueLayout.JAVA_BYTE, PICTURE_SIZE - 1));
    }

    private static MemorySegment at(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }
}
