// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Arrays of {@code ucp_dt_iov_t} on plain addresses, for the data type {@link UcpRequestParam#DATATYPE_IOV}. The
 * array must live, unchanged, until the operation is complete.
 */
public final class UcpIov {

    /** Bytes of one entry. */
    public static final int SIZE = UcpLayouts.Iov.SIZE;

    private UcpIov() {
    }

    /** Sets entry {@code index} of the array at {@code iov}. */
    public static void set(long iov, int index, long buffer, long length) {
        long entry = iov + (long) index * SIZE;
        NativeMemory.putLong(entry + UcpLayouts.Iov.BUFFER, buffer);
        NativeMemory.putLong(entry + UcpLayouts.Iov.LENGTH, length);
    }

    public static long buffer(long iov, int index) {
        return NativeMemory.getLong(iov + (long) index * SIZE + UcpLayouts.Iov.BUFFER);
    }

    public static long length(long iov, int index) {
        return NativeMemory.getLong(iov + (long) index * SIZE + UcpLayouts.Iov.LENGTH);
    }
}
