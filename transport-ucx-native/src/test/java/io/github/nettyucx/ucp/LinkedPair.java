// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Two workers in one process, of one thread, with an endpoint each way that was made from the other's address, and with
 * error handling.
 */
final class LinkedPair implements AutoCloseable {

    final UcpContext context;
    final UcpWorker one;
    final UcpWorker other;
    final Loop loop;
    /** What the error handlers of either side were called with. */
    final List<String> errors = new ArrayList<>();
    private final Arena arena = Arena.ofConfined();
    private final long plain = UcpRequestParam.allocate(arena);
    private final long info = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES).address();
    private final byte[] addressOfOne;
    private final byte[] addressOfOther;
    UcpEndpoint toOther;
    UcpEndpoint toOne;

    LinkedPair(Links links, boolean rendezvous, UcpFeature... features) throws UcxException {
        context = links.context(rendezvous, features);
        one = context.createWorker(new UcpWorkerParams());
        other = context.createWorker(new UcpWorkerParams());
        loop = new Loop(one, other);
        addressOfOne = one.queryAddress();
        addressOfOther = other.queryAddress();
    }

    /** Makes the endpoints. */
    void link() throws UcxException {
        toOther = one.connect(addressOfOther, (endpoint, status) -> errors.add(UcsStatus.name(status)));
        toOne = other.connect(addressOfOne, (endpoint, status) -> errors.add(UcsStatus.name(status)));
    }

    /** Closes them by force, one as the other, without progress in between. */
    void unlink() {
        long first = toOther.closeNbx(true);
        long second = toOne.closeNbx(true);
        assertEquals(UcsStatus.OK, loop.status("closing one", first));
        assertEquals(UcsStatus.OK, loop.status("closing the other", second));
    }

    /** Sends a message, which the receiver finds and then fetches. */
    void pass(UcpEndpoint endpoint, UcpWorker receiver, MemorySegment sent, MemorySegment received, int size)
            throws UcxException {
        pass(endpoint, receiver, sent, received, size, plain, plain);
    }

    /** @return whether the sender had to wait for the receiver, as in a rendezvous */
    boolean pass(UcpEndpoint endpoint, UcpWorker receiver, MemorySegment sent, MemorySegment received, int size,
            long sendParam, long receiveParam) throws UcxException {
        long send = UcpTag.sendNbx(endpoint.address(), sent.address(), size, size, sendParam);
        long[] message = new long[1];
        loop.until("a message of " + size + " bytes", () -> {
            message[0] = UcpTag.probeNb(receiver.address(), 0, 0, true, info);
            return message[0] != 0;
        });
        assertEquals(size, UcpTag.infoTag(info));
        assertEquals(size, UcpTag.infoLength(info));
        for (int i = 0; i < 100; i++) {
            loop.progress();
        }
        boolean waits = UcsStatus.isRequest(send) && UcpRequest.checkStatus(send) == UcsStatus.INPROGRESS;
        loop.complete("receiving", UcpTag.messageReceiveNbx(
                receiver.address(), received.address(), size, message[0], receiveParam));
        loop.complete("sending", send);
        return waits;
    }

    @Override
    public void close() {
        one.close();
        other.close();
        context.close();
        arena.close();
    }
}
