// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * One end of a control socket: says the last words of the handshake, and that its process, or its channel, is gone. It
 * keeps its own order, and none with the messages of the link.
 */
final class FakeSocket {

    enum Word {
        /** The other side may open its connection. */
        OPEN,
        /** No more comes: an end of stream, or a reset. */
        END
    }

    private FakeSocket peer;
    /** Said, and not arrived. */
    private final Deque<Word> outgoing = new ArrayDeque<>();
    private final Deque<Word> arrived = new ArrayDeque<>();
    private boolean closed;

    void connectTo(FakeSocket other) {
        peer = other;
    }

    void say(Word word) {
        if (!closed) {
            outgoing.add(word);
        }
    }

    /** @return whether something of the peer has arrived */
    boolean arrives() {
        Word word = peer.outgoing.poll();
        if (word != null) {
            arrived.add(word);
        }
        return word != null;
    }

    /** What has to be dealt with next, or {@code null}. */
    Word peek() {
        return arrived.peek();
    }

    void take() {
        arrived.remove();
    }

    void close() {
        say(Word.END);
        closed = true;
    }

    /** The network between the two fails, or both kernels give up. */
    void cut() {
        outgoing.add(Word.END);
        peer.outgoing.add(Word.END);
        closed = true;
        peer.closed = true;
    }
}
