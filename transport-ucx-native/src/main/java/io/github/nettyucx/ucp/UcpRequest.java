// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Requests: operations that were not complete when their call returned. A request is the positive status pointer
 * that an {@code nbx} call returned; it belongs to the worker on which the operation was started, and is to be used
 * by the thread that progresses that worker, until it is freed.
 */
public final class UcpRequest {

    private UcpRequest() {
    }

    /**
     * Whether the operation is complete: {@link UcsStatus#INPROGRESS}, or {@link UcsStatus#OK}, or a negative status.
     * Doesn't progress the worker. Allocates nothing.
     */
    public static int checkStatus(long request) {
        assert request > 0;
        try {
            return (byte) (long) UcpFunctions.Messages.REQUEST_CHECK_STATUS.invokeExact(request, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Gives the request back. If the operation is still in progress it goes on, using its buffer, and nobody can learn
     * any more when it ends: so check the status first.
     */
    public static void free(long request) {
        assert request > 0;
        try {
            long ignored = (long) UcpFunctions.Messages.REQUEST_FREE.invokeExact(request, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Asks for an operation to be given up; it then completes with {@link UcsStatus#ERR_CANCELED}, at once or in a
     * later progress, or in its ordinary way. Only receives can be cancelled: a send ends with its completion or
     * with its endpoint. Must still be freed.
     */
    public static void cancel(long worker, long request) {
        assert request > 0;
        UcpFunctions.call(UcpFunctions.Messages.REQUEST_CANCEL, worker, request, 0);
    }
}
