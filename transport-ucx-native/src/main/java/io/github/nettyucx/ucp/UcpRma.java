// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Access to a peer's memory, on plain addresses. Conventions as in {@link UcpTag}. Where the transport can't do it
 * alone, as with TCP, the peer must progress.
 */
public final class UcpRma {

    private UcpRma() {
    }

    /**
     * Writes to a peer's memory; complete when the buffer may be used again. The bytes are there once a later
     * {@link UcpEndpoint#flushNbx} has completed.
     *
     * @param remoteAddress as the peer has it
     * @param remoteKey     {@link UcpRemoteKey#address()}
     * @return a status pointer
     */
    public static long putNbx(
            long endpoint, long buffer, long count, long remoteAddress, long remoteKey, long param) {
        try {
            return (long) UcpFunctions.Memory.PUT_NBX.invokeExact(
                    endpoint, buffer, count, remoteAddress, remoteKey, param);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Reads from a peer's memory; complete when the bytes are in the buffer.
     *
     * @param remoteAddress as the peer has it
     * @param remoteKey     {@link UcpRemoteKey#address()}
     * @return a status pointer
     */
    public static long getNbx(
            long endpoint, long buffer, long count, long remoteAddress, long remoteKey, long param) {
        try {
            return (long) UcpFunctions.Memory.GET_NBX.invokeExact(
                    endpoint, buffer, count, remoteAddress, remoteKey, param);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }
}
