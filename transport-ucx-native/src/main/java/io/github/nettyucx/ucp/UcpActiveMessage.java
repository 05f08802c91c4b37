// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Active messages, on plain addresses: a message is sent to an endpoint with the id of a handler, which its receiver
 * calls from within progress. Conventions as in {@link UcpTag}: nothing but {@link #setHandler} allocates or checks,
 * and all methods are for the thread that progresses the worker.
 */
public final class UcpActiveMessage {

    /** Handler flag: call only when the whole message is there, in one piece. */
    public static final int HANDLER_FLAG_WHOLE_MESSAGE = UcpConstants.UCP_AM_FLAG_WHOLE_MSG;
    /** Handler flag: let the handler keep data of eager messages, see {@link #isPersistent}. */
    public static final int HANDLER_FLAG_PERSISTENT_DATA = UcpConstants.UCP_AM_FLAG_PERSISTENT_DATA;

    /** Send flag: give the receiver an endpoint to answer on, see {@link #replyEndpoint}. */
    public static final int SEND_FLAG_REPLY = UcpConstants.UCP_AM_SEND_FLAG_REPLY;
    /** Send flag: send eagerly, whatever the length. */
    public static final int SEND_FLAG_EAGER = UcpConstants.UCP_AM_SEND_FLAG_EAGER;
    /** Send flag: let the receiver fetch the data, whatever the length. */
    public static final int SEND_FLAG_RENDEZVOUS = UcpConstants.UCP_AM_SEND_FLAG_RNDV;
    /** Send flag: copy the header, which otherwise must live as long as the buffer. */
    public static final int SEND_FLAG_COPY_HEADER = UcpConstants.UCP_AM_SEND_FLAG_COPY_HEADER;

    private UcpActiveMessage() {
    }

    /**
     * Sets the handler for the messages with this id, in place of an earlier one. It stays registered until the
     * worker is closed, so that what is still on its way finds somebody.
     *
     * @param id    0 to 65535; UCX keeps an array up to the highest
     * @param flags {@code HANDLER_FLAG_*}
     */
    public static void setHandler(UcpWorker worker, int id, int flags, ActiveMessageHandler handler)
            throws UcxException {
        Objects.requireNonNull(handler, "handler");
        if (id < 0 || id > Character.MAX_VALUE) {
            throw new IllegalArgumentException("id: " + id + " (expected: 0 to " + (int) Character.MAX_VALUE + ')');
        }
        long workerAddress = worker.address();
        long registered = Upcalls.ActiveMessages.HANDLERS.register(handler);
        worker.handlerAdded(registered);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment param = arena.allocate(UcpLayouts.AmHandlerParam.SIZE, Long.BYTES);
            param.set(ValueLayout.JAVA_LONG, UcpLayouts.AmHandlerParam.FIELD_MASK,
                    UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_ID | UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_FLAGS
                            | UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_CB
                            | UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_ARG);
            param.set(ValueLayout.JAVA_INT, UcpLayouts.AmHandlerParam.ID, id);
            param.set(ValueLayout.JAVA_INT, UcpLayouts.AmHandlerParam.FLAGS, flags);
            param.set(ValueLayout.JAVA_LONG, UcpLayouts.AmHandlerParam.CB, Upcalls.ActiveMessages.RECEIVED);
            param.set(ValueLayout.JAVA_LONG, UcpLayouts.AmHandlerParam.ARG, registered);
            UcpFunctions.check("Setting the handler of active message " + id,
                    UcpFunctions.ActiveMessages.WORKER_SET_AM_RECV_HANDLER, workerAddress, param.address(), 0);
        }
    }

    /**
     * Sends a message; complete when header and buffer may be used again.
     *
     * @param headerLength in bytes, at most {@link UcpWorker#maxActiveMessageHeader()}
     * @param count        in bytes, unless {@code param} has another data type
     * @param param        with {@code SEND_FLAG_*} as flags, if any
     * @return a status pointer
     */
    public static long sendNbx(
            long endpoint, int id, long header, long headerLength, long buffer, long count, long param) {
        try {
            return (long) UcpFunctions.Longest.AM_SEND_NBX.invokeExact(
                    endpoint, (long) id, header, headerLength, buffer, count, param);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Fetches the data of a {@linkplain #isRendezvous rendezvous} message, during the handler's call or after it has
     * returned {@link UcsStatus#INPROGRESS}. The descriptor is used up.
     *
     * @return a status pointer
     */
    public static long receiveDataNbx(long worker, long dataDescriptor, long buffer, long count, long param) {
        try {
            return (long) UcpFunctions.ActiveMessages.AM_RECV_DATA_NBX.invokeExact(
                    worker, dataDescriptor, buffer, count, param, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Gives back data, or a descriptor that won't be fetched, that a handler kept with {@link UcsStatus#INPROGRESS}.
     */
    public static void dataRelease(long worker, long data) {
        try {
            long ignored = (long) UcpFunctions.ActiveMessages.AM_DATA_RELEASE.invokeExact(worker, data, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** In a handler: whether the data must be fetched with {@link #receiveDataNbx}. */
    public static boolean isRendezvous(long param) {
        return (receiveAttributes(param) & UcpConstants.UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    }

    /** In a handler: whether the data may be kept, to be given back with {@link #dataRelease}. */
    public static boolean isPersistent(long param) {
        return (receiveAttributes(param) & UcpConstants.UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    }

    /** In a handler: the endpoint to answer on, or 0 if the message was sent without {@link #SEND_FLAG_REPLY}. */
    public static long replyEndpoint(long param) {
        return (receiveAttributes(param) & UcpConstants.UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0
                ? 0 : NativeMemory.getLong(param + UcpLayouts.AmRecvParam.REPLY_EP);
    }

    private static long receiveAttributes(long param) {
        return NativeMemory.getLong(param + UcpLayouts.AmRecvParam.RECV_ATTR);
    }
}
