// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.EndpointErrorHandler;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpRemoteKey;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * One side of a link: the UCX endpoint from one {@link Worker} to a peer's, which all channels between the two share.
 * <p>
 * After UCX has reported the endpoint's failure nothing more is posted on it: UCX 1.22 was seen to loop for ever in a
 * send on an endpoint whose connect had failed. Calls then answer with the failure's status. UCX's endpoint is closed at
 * once, whoever has still to learn of the failure: a message of the dead peer that is received by rendezvous would never
 * complete on an endpoint that has failed and is open, and is cancelled on one that is closed.
 */
public final class Link implements LinkPort, EndpointErrorHandler {

    private enum State {
        OPEN, FAILED, CLOSING, CLOSED
    }

    private final Worker worker;
    /** Of its worker. */
    private final byte[] peerAddress;
    private UcpEndpoint ucp;
    private long handle;
    private State state = State.OPEN;
    private int failure = UcsStatus.OK;
    private boolean reported;
    private final Set<EndpointListener> users = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Whether UCX's endpoint has been closed, and whether it is gone. */
    private boolean givenBack;
    private boolean gone;

    Link(Worker worker, byte[] peerAddress) {
        this.worker = worker;
        this.peerAddress = peerAddress;
    }

    void attach(UcpEndpoint endpoint) {
        ucp = endpoint;
        handle = endpoint.address();
    }

    @Override
    public void add(EndpointListener user) {
        users.add(user);
        if (reported) {
            // Between the choice of this link and now; and not within the call, which the user does not expect.
            worker.engine().schedule(this::reportFailure);
        }
    }

    @Override
    public void remove(EndpointListener user) {
        users.remove(user);
    }

    @Override
    public boolean isOpen() {
        return state == State.OPEN;
    }

    // ------------------------------------------------------------------------------------------- failure

    /** Runs inside UCX's progress: only takes note. */
    @Override
    public void onError(UcpEndpoint endpoint, int status) {
        fail(status);
    }

    /** Only takes note. */
    void fail(int status) {
        if (state == State.OPEN) {
            state = State.FAILED;
            failure = status;
            worker.failed(this);
        }
    }

    /** @return the answer of UCX to an operation, or its status, unchanged */
    private long noted(long answer) {
        if (answer < UcsStatus.OK) {
            operationFailed((int) answer);
        }
        return answer;
    }

    /**
     * Over shared memory an endpoint may be of no use any more then, and UCX reports nothing: it takes a place in the peer's
     * queue, then attaches the memory that it writes to, and if that fails, for want of a descriptor say, the place stays
     * empty. So it can be with a receive, which UCX answers.
     */
    void operationFailed(int status) {
        if (mayLeaveHole(status) && state == State.OPEN && worker.sharesQueues()) {
            worker.holed(status);
            HoledQueues.found(peerAddress);
            fail(status);
        }
    }

    private static boolean mayLeaveHole(int status) {
        return switch (status) {
            // The message was longer than what was asked for.
            case UcsStatus.OK, UcsStatus.INPROGRESS, UcsStatus.ERR_MESSAGE_TRUNCATED -> false;
            // So operations end of an endpoint that UCX reports, or that has been closed: of a peer that has died, say.
            case UcsStatus.ERR_IO_ERROR, UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT,
                    UcsStatus.ERR_CANCELED -> false;
            default -> true;
        };
    }

    /** Another loop of this process may have failed to send to the same worker. */
    void failIfHoled() {
        if (HoledQueues.has(peerAddress)) {
            fail(UcsStatus.ERR_SHMEM_SEGMENT);
        }
    }

    /** In the turn in which the failure was noted, before anything that the peer has sent is received. */
    void closeFailed() {
        if (state == State.FAILED) {
            giveBack(true);
        }
    }

    /** After the messages that had arrived before the failure have been delivered. */
    void reportFailure() {
        reported = true;
        List<EndpointListener> informed = new ArrayList<>(users);
        users.clear();
        for (EndpointListener user : informed) {
            worker.guarded(() -> user.endpointFailed(failure));
        }
    }

    @Override
    public boolean isFailing() {
        return state == State.FAILED && !reported;
    }

    // ------------------------------------------------------------------------------------------- what it is

    public Worker worker() {
        return worker;
    }

    @Override
    public List<String> transports() {
        if (state != State.OPEN) {
            return List.of();
        }
        try {
            Set<String> names = new LinkedHashSet<>();
            for (UcpEndpoint.Transport transport : ucp.transports()) {
                names.add(transport.device().isEmpty() ? transport.name() : transport.name() + '/' + transport.device());
            }
            return List.copyOf(names);
        } catch (IOException e) {
            return List.of();
        }
    }

    // ------------------------------------------------------------------------------------------- operations

    @Override
    public long send(long address, long length, long tag) {
        return state == State.OPEN
                ? noted(worker.started(UcpTag.sendNbx(handle, address, length, tag, worker.param(address, length))))
                : refused();
    }

    @Override
    public long flush() {
        return state == State.OPEN ? worker.flush(handle) : refused();
    }

    @Override
    public long receive(long message, long address, long length) {
        // A message belongs to the worker, and can be received after its endpoint has gone.
        return noted(worker.receive(message, address, length));
    }

    @Override
    public int status(long request) {
        return (int) noted(UcpRequest.checkStatus(request));
    }

    @Override
    public void free(long request) {
        worker.free(request);
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        worker.adopt(request, owner, this::operationFailed);
    }

    @Override
    public Attachment attach(byte[] key, long address) throws IOException {
        if (state != State.OPEN) {
            throw UcsStatus.exception("Attaching memory over an endpoint that has failed", failure);
        }
        UcpRemoteKey opened = ucp.unpackRemoteKey(Arrays.copyOf(key, key.length + Attachment.KEY_PADDING));
        try {
            return new Attachment(opened, opened.localPointer(address));
        } catch (Throwable t) {
            opened.close();
            throw t;
        }
    }

    @Override
    public void track(InFlight operation) {
        worker.track(operation);
    }

    @Override
    public void everySecond(EverySecond task) {
        worker.everySecond(task);
    }

    @Override
    public boolean losesMessages() {
        return worker.losesMessages();
    }

    @Override
    public void messagesLost() {
        // New connections are not to lose theirs for want of that room.
        worker.retire();
    }

    @Override
    public void register(int channelId, MessageSink sink) {
        worker.register(channelId, sink);
    }

    @Override
    public void unregister(int channelId) {
        worker.unregister(channelId);
    }

    private long refused() {
        return failure == UcsStatus.OK ? UcsStatus.ERR_CANCELED : failure;
    }

    // ------------------------------------------------------------------------------------------- the end

    @Override
    public void close() {
        if (state == State.CLOSING || state == State.CLOSED) {
            return;
        }
        boolean failed = state == State.FAILED;
        state = State.CLOSING;
        if (failure == UcsStatus.OK) {
            failure = UcsStatus.ERR_CANCELED;
        }
        users.clear();
        giveBack(failed);
        closeWhenGone();
    }

    private void giveBack(boolean failed) {
        if (givenBack) {
            return;
        }
        givenBack = true;
        if (failed || worker.isMemoryInUse()) {
            worker.retireRegistered();
        }
        // A flush that UCX 1.22 is about to resume outlives an endpoint that is closed now, and crashes the process.
        worker.settle();
        long request = ucp == null ? UcsStatus.OK : worker.started(ucp.closeNbx(true));
        if (request > 0) {
            worker.adopt(request, null, status -> gone());
        } else {
            gone();
        }
    }

    private void gone() {
        gone = true;
        closeWhenGone();
    }

    /** The worker is needed until nobody uses this endpoint, and UCX has finished with it. */
    private void closeWhenGone() {
        if (gone && state == State.CLOSING) {
            state = State.CLOSED;
            worker.linkClosed(this);
        }
    }
}
