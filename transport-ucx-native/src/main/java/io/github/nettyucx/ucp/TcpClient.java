// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.concurrent.TimeUnit;

/**
 * A client that is to be turned away: its connection is reset first, then rejected. Only for the thread of the
 * listener's worker.
 *
 * <p>{@code ucp_listener_reject} alone is dangerous where many strangers come. It has UCX's asynchronous thread wait
 * until the connection can be written to, writes at once, and closes it; see {@link TcpConnection} for what that thread
 * may make of that. A connection that has been reset is noticed by the asynchronous thread, which then waits for nothing
 * of it any more; only after that is it rejected, which no more than gives it back.
 */
final class TcpClient {

    /** If UCX has not noticed by then, the client is rejected all the same. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long request;
    private final TcpConnection connection;
    private final long resetNanos = System.nanoTime();

    private TcpClient(long request, TcpConnection connection) {
        this.request = request;
        this.connection = connection;
    }

    /**
     * Resets the connection of a request that has been neither accepted nor rejected.
     *
     * @return {@code null} if that is not possible
     */
    static TcpClient reset(long request, long listener) {
        TcpConnection connection = TcpConnection.of(request, ConnectMessage.connectionOf(request, listener));
        if (connection == null) {
            return null;
        }
        connection.reset();
        return new TcpClient(request, connection);
    }

    /** Whether it is to be rejected now: UCX has noticed that the connection is gone, or has had the time to. */
    boolean isGone() {
        return connection.hasFailed() || System.nanoTime() - resetNanos > PATIENCE_NANOS;
    }

    /** The {@code ucp_conn_request_h}. */
    long request() {
        return request;
    }
}
