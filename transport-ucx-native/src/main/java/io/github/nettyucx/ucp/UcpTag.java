// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Tagged messages, on plain addresses: a message is sent to an endpoint with a 64-bit tag, and received by whoever
 * asks the receiving worker for that tag.
 *
 * <p>Nothing here allocates or checks. All methods are for the thread that progresses the worker, and {@code param}
 * is the address of a block from {@link UcpRequestParam}, which is read during the call only. Buffers belong to UCX
 * until the operation is complete. {@code count} is in bytes, unless {@code param} has another data type.
 */
public final class UcpTag {

    /** Bytes of a {@code ucp_tag_recv_info_t}. */
    public static final int INFO_SIZE = UcpLayouts.TagRecvInfo.SIZE;

    private UcpTag() {
    }

    /**
     * Sends a message; complete when the buffer may be used again, which says nothing about its arrival.
     *
     * @return a status pointer
     */
    public static long sendNbx(long endpoint, long buffer, long count, long tag, long param) {
        try {
            return (long) UcpFunctions.Messages.TAG_SEND_NBX.invokeExact(endpoint, buffer, count, tag, param, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * As {@link #sendNbx}, but complete only when the receiver has matched the message with a receive.
     *
     * @return a status pointer
     */
    public static long sendSyncNbx(long endpoint, long buffer, long count, long tag, long param) {
        try {
            return (long) UcpFunctions.Messages.TAG_SEND_SYNC_NBX.invokeExact(endpoint, buffer, count, tag, param, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Posts a receive for the first message, here or to come, whose tag equals {@code tag} in the bits of
     * {@code tagMask}. It may be complete before this returns.
     *
     * @return a status pointer; {@link UcsStatus#ERR_MESSAGE_TRUNCATED} if the message is longer than the buffer
     */
    public static long receiveNbx(long worker, long buffer, long count, long tag, long tagMask, long param) {
        try {
            return (long) UcpFunctions.Messages.TAG_RECV_NBX.invokeExact(worker, buffer, count, tag, tagMask, param);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * As {@link UcpRequest#checkStatus}, for a request of {@link #receiveNbx} or {@link #messageReceiveNbx}: also
     * tells which message came.
     *
     * @param info address of {@link #INFO_SIZE} bytes, written if the request is complete
     */
    public static int testReceive(long request, long info) {
        try {
            return (byte) (long) UcpFunctions.Messages.TAG_RECV_REQUEST_TEST.invokeExact(request, info, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Looks for a message that has arrived, or has been announced, and for which no receive was posted.
     *
     * @param tagMask the bits of {@code tag} that count; with 0 the oldest message of all is found, without a search
     * @param remove  whether to take the message out; it must then be received with {@link #messageReceiveNbx}
     * @param info    address of {@link #INFO_SIZE} bytes, written only if there is a message
     * @return the message's handle, or 0
     */
    public static long probeNb(long worker, long tag, long tagMask, boolean remove, long info) {
        try {
            long flag = remove ? 1 : 0;
            return tagMask == 0
                    ? (long) UcpFunctions.Messages.TAG_PROBE_ANY_NB.invokeExact(worker, tag, tagMask, flag, info, 0L)
                    : (long) UcpFunctions.Messages.TAG_PROBE_NB.invokeExact(worker, tag, tagMask, flag, info, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Receives a message that was removed by {@link #probeNb}.
     *
     * @param count the message's length or more
     * @return a status pointer
     */
    public static long messageReceiveNbx(long worker, long buffer, long count, long message, long param) {
        try {
            return (long) UcpFunctions.Messages.TAG_MSG_RECV_NBX.invokeExact(worker, buffer, count, message, param, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** The sender's tag in a filled info block. */
    public static long infoTag(long info) {
        return NativeMemory.getLong(info + UcpLayouts.TagRecvInfo.SENDER_TAG);
    }

    /** The message's length in bytes in a filled info block. */
    public static long infoLength(long info) {
        return NativeMemory.getLong(info + UcpLayouts.TagRecvInfo.LENGTH);
    }
}
