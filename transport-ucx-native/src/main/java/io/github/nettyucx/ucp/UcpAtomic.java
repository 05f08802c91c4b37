// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Atomic operations on a peer's memory, on plain addresses. Conventions as in {@link UcpTag}.
 *
 * <p>They work on endpoints <em>without</em> error handling only (see {@link UcpEndpointParams#errorHandler}): on
 * another, UCX cancels the operation and the endpoint fails. Operations on one place are atomic among themselves, if
 * all come over the same transport; they need not be towards the owner's own accesses.
 */
public final class UcpAtomic {

    public static final int ADD = UcpConstants.UCP_ATOMIC_OP_ADD;
    /** Needs a reply buffer. */
    public static final int SWAP = UcpConstants.UCP_ATOMIC_OP_SWAP;
    /** Needs a reply buffer, which holds the value to be stored, and receives the previous one. */
    public static final int COMPARE_AND_SWAP = UcpConstants.UCP_ATOMIC_OP_CSWAP;
    public static final int AND = UcpConstants.UCP_ATOMIC_OP_AND;
    public static final int OR = UcpConstants.UCP_ATOMIC_OP_OR;
    public static final int XOR = UcpConstants.UCP_ATOMIC_OP_XOR;

    private UcpAtomic() {
    }

    /**
     * Changes a value in a peer's memory. Without a reply buffer, complete when the operand may be used again; with one
     * ({@link UcpRequestParam#setReplyBuffer}), when the previous value is there.
     *
     * @param operation     one of the constants of this class
     * @param operand       address of the operand; with {@link #COMPARE_AND_SWAP}, of the value to compare with
     * @param count         1: the number of values
     * @param remoteAddress as the peer has it, aligned to the size of the value
     * @param remoteKey     {@link UcpRemoteKey#address()}
     * @param param         with the data type {@link UcpRequestParam#contiguous} of 4 or 8 bytes, for which the
     *                      context must have {@link UcpFeature#AMO32} or {@link UcpFeature#AMO64}
     * @return a status pointer
     */
    public static long operationNbx(long endpoint, int operation, long operand, long count, long remoteAddress,
            long remoteKey, long param) {
        try {
            return (long) UcpFunctions.Longest.ATOMIC_OP_NBX.invokeExact(
                    endpoint, (long) operation, operand, count, remoteAddress, remoteKey, param);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }
}
