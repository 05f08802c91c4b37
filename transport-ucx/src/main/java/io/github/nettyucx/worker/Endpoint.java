// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.EndpointErrorHandler;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpStream;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A UCX endpoint of one {@link Worker}.
 * <p>
 * After UCX has reported the endpoint's failure nothing more is posted on it: UCX 1.22 was seen to loop for ever in a
 * send on an endpoint whose connect had failed. Calls then answer with the failure's status. UCX's endpoint is closed at
 * once, whoever has still to learn of the failure: a message of the dead peer that is received by rendezvous would never
 * complete on an endpoint that has failed and is open, and is cancelled on one that is closed.
 */
public final class Endpoint implements EndpointPort, EndpointErrorHandler {

    private enum State {
        OPEN, FAILED, CLOSING, CLOSED
    }

    private final Worker worker;
    private UcpEndpoint ucp;
    private long handle;
    private State state = State.OPEN;
    private int failure = UcsStatus.OK;
    private EndpointListener listener;
    /** Whether UCX's endpoint has been closed, and whether it is gone. */
    private boolean givenBack;
    private boolean gone;
    /** Whether the process's reserve of descriptors still waits for what UCX is going to take. */
    private boolean connecting = true;

    Endpoint(Worker worker, EndpointListener listener) {
        this.worker = worker;
        this.listener = listener;
    }

    void attach(UcpEndpoint endpoint) {
        ucp = endpoint;
        handle = endpoint.address();
    }

    /** UCX takes no more descriptors for it. */
    void endConnecting(boolean connected) {
        if (connecting) {
            connecting = false;
            DescriptorReserve.PROCESS.endConnecting(connected);
        }
    }

    /** Runs inside UCX's progress: only takes note. */
    @Override
    public void onError(UcpEndpoint endpoint, int status) {
        if (state == State.OPEN) {
            state = State.FAILED;
            failure = status;
            worker.failed(this);
        }
    }

    /** In the turn in which the failure was noted, before anything that the peer has sent is received. */
    void closeFailed() {
        if (state == State.FAILED) {
            giveBack();
        }
    }

    boolean isRefused() {
        return EndpointListener.isRefusal(failure);
    }

    /** Whether the peer may have died; otherwise it has closed the connection, or refused it. */
    boolean isPeerLost() {
        return state == State.FAILED && listener != null && !listener.expects(failure);
    }

    /** After the messages that had arrived before the failure have been delivered. */
    void reportFailure() {
        if (state == State.FAILED && listener != null) {
            EndpointListener informed = listener;
            listener = null;
            informed.endpointFailed(failure);
        }
    }

    @Override
    public boolean isFailing() {
        return state == State.FAILED && listener != null;
    }

    public Worker worker() {
        return worker;
    }

    /** @throws IOException if the endpoint is not connected */
    public InetSocketAddress localAddress() throws IOException {
        checkOpen();
        return ucp.localAddress();
    }

    /**
     * UCX's name of the transport that carries most of the data, such as {@code sysv}, {@code rc_mlx5}, {@code tcp}.
     * UCX may still change its mind for some milliseconds after the connection has been made.
     *
     * @throws IOException if the endpoint is not connected
     */
    public String lane() throws IOException {
        checkOpen();
        String lane = "unknown";
        for (UcpEndpoint.Transport transport : ucp.transports()) {
            // Where there is anything better, tcp is left with the making of the connection.
            if (!transport.name().equals("tcp")) {
                return transport.name();
            }
            lane = transport.name();
        }
        return lane;
    }

    /**
     * All transports of the endpoint, each with its device, such as {@code tcp/eth0}; without one, such as {@code tcp},
     * what the connection was made with.
     *
     * @throws IOException if the endpoint is not connected
     */
    public List<String> transports() throws IOException {
        checkOpen();
        return ucp.transports().stream().map(transport -> transport.device().isEmpty() ? transport.name()
                : transport.name() + '/' + transport.device()).distinct().toList();
    }

    private void checkOpen() throws IOException {
        if (state != State.OPEN) {
            throw UcsStatus.exception("Asking an endpoint that has failed", failure);
        }
    }

    @Override
    public long flush() {
        return state == State.OPEN ? worker.started(UcpEndpoint.flushNbx(handle, worker.plainParam())) : refused();
    }

    @Override
    public long sendStream(long address, long length) {
        return state == State.OPEN ? worker.started(UcpStream.sendNbx(handle, address, length, worker.plainParam()))
                : refused();
    }

    @Override
    public long receiveStream(long address, long length) {
        return state == State.OPEN
                ? worker.started(UcpStream.receiveNbx(handle, address, length, worker.lengthOut(), worker.waitAllParam()))
                : refused();
    }

    @Override
    public long send(long address, long length, long tag) {
        return state == State.OPEN
                ? worker.started(UcpTag.sendNbx(handle, address, length, tag, worker.plainParam()))
                : refused();
    }

    @Override
    public long receive(long message, long address, long length) {
        // A message belongs to the worker, and can be received after its endpoint has gone.
        return worker.started(
                UcpTag.messageReceiveNbx(worker.handle(), address, length, message, worker.plainParam()));
    }

    @Override
    public int status(long request) {
        return UcpRequest.checkStatus(request);
    }

    @Override
    public void free(long request) {
        worker.free(request);
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        worker.adopt(request, owner, null);
    }

    @Override
    public void track(InFlight operation) {
        worker.track(operation);
    }

    @Override
    public void register(int channelId, MessageSink sink) {
        // Done when the endpoint is connected: all its lanes are open, as was measured over shared memory and tcp.
        endConnecting(true);
        worker.register(channelId, sink);
    }

    @Override
    public void unregister(int channelId) {
        worker.unregister(channelId);
    }

    @Override
    public int newChannelId() {
        return worker.newChannelId();
    }

    /**
     * Tears the connection down at once; what is in flight completes as cancelled later. Everything that the peer has
     * to receive must have been acknowledged before: UCX drops the rest.
     */
    public void close() {
        if (state == State.CLOSING || state == State.CLOSED) {
            return;
        }
        state = State.CLOSING;
        if (failure == UcsStatus.OK) {
            failure = UcsStatus.ERR_CANCELED;
        }
        listener = null;
        giveBack();
        closeWhenGone();
    }

    private void giveBack() {
        if (givenBack) {
            return;
        }
        givenBack = true;
        // A flush that UCX 1.22 is about to resume outlives an endpoint that is closed now, and crashes the process.
        worker.settle();
        long request = ucp == null ? UcsStatus.OK : worker.started(ucp.closeNbx(true));
        if (request > 0) {
            worker.adopt(request, null, this::gone);
        } else {
            gone();
        }
        endConnecting(false);
    }

    private void gone() {
        gone = true;
        closeWhenGone();
    }

    /** The worker is needed until nobody uses this endpoint, and UCX has finished with it. */
    private void closeWhenGone() {
        if (gone && state == State.CLOSING) {
            state = State.CLOSED;
            worker.endpointClosed();
        }
    }

    private long refused() {
        return failure == UcsStatus.OK ? UcsStatus.ERR_CANCELED : failure;
    }
}
