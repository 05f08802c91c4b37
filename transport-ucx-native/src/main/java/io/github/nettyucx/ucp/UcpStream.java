// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * The byte stream of an endpoint, on plain addresses. Conventions as in {@link UcpTag}: nothing allocates or checks,
 * and all methods are for the thread that progresses the endpoint's worker.
 *
 * <p>Bytes that have arrived but were not received are dropped when the endpoint fails or is closed.
 */
public final class UcpStream {

    /** Flag for {@link UcpRequestParam#setFlags}: complete only when the buffer is full. */
    public static final int RECEIVE_FLAG_WAIT_ALL = UcpConstants.UCP_STREAM_RECV_FLAG_WAITALL;

    /** Bytes of one {@code ucp_stream_poll_ep_t}. */
    public static final int POLL_ENDPOINT_SIZE = UcpLayouts.StreamPollEp.SIZE;

    private UcpStream() {
    }

    /**
     * Sends bytes; complete when the buffer may be used again.
     *
     * @return a status pointer
     */
    public static long sendNbx(long endpoint, long buffer, long count, long param) {
        try {
            return (long) UcpFunctions.Streams.STREAM_SEND_NBX.invokeExact(endpoint, buffer, count, param, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Receives up to {@code count} bytes, at least one.
     *
     * @param lengthOut address of 8 bytes for the number of bytes received, written if this returns 0; for a request
     *                  see {@link #testReceive}
     * @return a status pointer
     */
    public static long receiveNbx(long endpoint, long buffer, long count, long lengthOut, long param) {
        try {
            return (long) UcpFunctions.Streams.STREAM_RECV_NBX.invokeExact(
                    endpoint, buffer, count, lengthOut, param, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * As {@link UcpRequest#checkStatus}, for a request of {@link #receiveNbx}: also tells the number of bytes.
     *
     * @param lengthOut address of 8 bytes, written if the request is complete
     */
    public static int testReceive(long request, long lengthOut) {
        try {
            return (byte) (long) UcpFunctions.Streams.STREAM_RECV_REQUEST_TEST.invokeExact(request, lengthOut, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Takes the next bytes that have arrived in UCX's own buffer, without a copy.
     *
     * @param lengthOut address of 8 bytes for the number of bytes, written if there are any
     * @return 0 if there is nothing, a negative status, or the address of the bytes, to be given back with
     *         {@link #dataRelease}
     */
    public static long receiveDataNb(long endpoint, long lengthOut) {
        try {
            return (long) UcpFunctions.Streams.STREAM_RECV_DATA_NB.invokeExact(endpoint, lengthOut, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** Gives back what {@link #receiveDataNb} returned; the endpoint must not have been closed. */
    public static void dataRelease(long endpoint, long data) {
        try {
            long ignored = (long) UcpFunctions.Streams.STREAM_DATA_RELEASE.invokeExact(endpoint, data, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Lists endpoints that have bytes to receive. A listed endpoint is not listed again before more bytes arrive.
     *
     * @param pollEndpoints address of {@code max} blocks of {@link #POLL_ENDPOINT_SIZE} bytes
     * @param flags         0: UCX defines none
     * @return the number of endpoints written, or a negative status
     */
    public static long workerPoll(long worker, long pollEndpoints, long max, int flags) {
        try {
            return (long) UcpFunctions.Streams.STREAM_WORKER_POLL.invokeExact(
                    worker, pollEndpoints, max, (long) flags, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** The address of the endpoint in a block that {@link #workerPoll} filled. */
    public static long pollEndpoint(long pollEndpoint) {
        return NativeMemory.getLong(pollEndpoint + UcpLayouts.StreamPollEp.EP);
    }

    /** The {@link UcpEndpoint#id()} of the endpoint in a block that {@link #workerPoll} filled. */
    public static long pollEndpointId(long pollEndpoint) {
        return NativeMemory.getLong(pollEndpoint + UcpLayouts.StreamPollEp.USER_DATA);
    }
}
