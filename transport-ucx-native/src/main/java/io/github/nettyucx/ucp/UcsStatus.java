// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * The values of {@code ucs_status_t}, and the one place where a status becomes an exception.
 *
 * <p>A <em>status pointer</em>, which all {@code nbx} calls return, is 0 if the operation is complete, a negative
 * status if it has failed, and otherwise the address of a request that is in progress.
 */
public final class UcsStatus {

    public static final int OK = 0;
    public static final int INPROGRESS = 1;
    public static final int ERR_NO_MESSAGE = -1;
    public static final int ERR_NO_RESOURCE = -2;
    public static final int ERR_IO_ERROR = -3;
    public static final int ERR_NO_MEMORY = -4;
    public static final int ERR_INVALID_PARAM = -5;
    public static final int ERR_UNREACHABLE = -6;
    public static final int ERR_INVALID_ADDR = -7;
    public static final int ERR_NOT_IMPLEMENTED = -8;
    public static final int ERR_MESSAGE_TRUNCATED = -9;
    public static final int ERR_NO_PROGRESS = -10;
    public static final int ERR_BUFFER_TOO_SMALL = -11;
    public static final int ERR_NO_ELEM = -12;
    public static final int ERR_SOME_CONNECTS_FAILED = -13;
    public static final int ERR_NO_DEVICE = -14;
    public static final int ERR_BUSY = -15;
    public static final int ERR_CANCELED = -16;
    public static final int ERR_SHMEM_SEGMENT = -17;
    public static final int ERR_ALREADY_EXISTS = -18;
    public static final int ERR_OUT_OF_RANGE = -19;
    public static final int ERR_TIMED_OUT = -20;
    public static final int ERR_EXCEEDS_LIMIT = -21;
    public static final int ERR_UNSUPPORTED = -22;
    public static final int ERR_REJECTED = -23;
    public static final int ERR_NOT_CONNECTED = -24;
    public static final int ERR_CONNECTION_RESET = -25;
    public static final int ERR_ENDPOINT_TIMEOUT = -80;

    /** Of the statuses from 0 downwards. */
    private static final String[] NAMES = {
            "OK", "NO_MESSAGE", "NO_RESOURCE", "IO_ERROR", "NO_MEMORY", "INVALID_PARAM", "UNREACHABLE",
            "INVALID_ADDR", "NOT_IMPLEMENTED", "MESSAGE_TRUNCATED", "NO_PROGRESS", "BUFFER_TOO_SMALL", "NO_ELEM",
            "SOME_CONNECTS_FAILED", "NO_DEVICE", "BUSY", "CANCELED", "SHMEM_SEGMENT", "ALREADY_EXISTS",
            "OUT_OF_RANGE", "TIMED_OUT", "EXCEEDS_LIMIT", "UNSUPPORTED", "REJECTED", "NOT_CONNECTED",
            "CONNECTION_RESET"};

    private UcsStatus() {
    }

    /** Whether a status pointer stands for a failed operation. */
    public static boolean isError(long statusPointer) {
        return statusPointer < 0;
    }

    /** Whether a status pointer is a request, which must be freed with {@link UcpRequest#free}. */
    public static boolean isRequest(long statusPointer) {
        return statusPointer > 0;
    }

    /** The library's own words for a status, such as "Connection reset by remote peer". */
    public static String string(int status) {
        return NativeMemory.getString(UcpFunctions.call(UcpFunctions.Statuses.STATUS_STRING, status, 0, 0));
    }

    /** The enumerator's name without its prefix, such as "CONNECTION_RESET"; "UNKNOWN" if UCX has no such status. */
    public static String name(int status) {
        if (status <= OK && status > -NAMES.length) {
            return NAMES[-status];
        }
        return status == INPROGRESS ? "INPROGRESS" : status == ERR_ENDPOINT_TIMEOUT ? "ENDPOINT_TIMEOUT" : "UNKNOWN";
    }

    /**
     * Makes the exception for a failed call.
     *
     * @param what   what was tried, such as "Connecting to /10.0.0.1:7000"
     * @param status negative
     */
    public static UcxException exception(String what, int status) {
        return new UcxException(
                what + ": " + string(status) + " (status " + status + ", " + name(status) + ')', status);
    }

    /**
     * Throws if {@code status} is negative.
     *
     * @param what what was tried
     */
    public static void check(String what, int status) throws UcxException {
        if (status < 0) {
            throw exception(what, status);
        }
    }
}
