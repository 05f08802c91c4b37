// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The right to access a peer's memory, on the endpoint that it was unpacked for. For the thread that progresses the
 * endpoint's worker; to be closed before the endpoint.
 */
public final class UcpRemoteKey implements AutoCloseable {

    private final UcpEndpoint endpoint;
    private long address;

    UcpRemoteKey(UcpEndpoint endpoint, byte[] packed) throws UcxException {
        this.endpoint = endpoint;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(packed.length, Long.BYTES);
            MemorySegment.copy(packed, 0, buffer, ValueLayout.JAVA_BYTE, 0, packed.length);
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            UcpFunctions.check("Unpacking a remote key",
                    UcpFunctions.Memory.EP_RKEY_UNPACK, endpoint.address(), buffer.address(), out.address());
            address = out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** The {@code ucp_rkey_h}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The remote key is closed");
        }
        return address;
    }

    /**
     * Where the peer's memory can be accessed directly, by ordinary loads and stores.
     *
     * @param remoteAddress an address in that memory, as the peer has it
     * @return the same place as this process has it
     * @throws UcxException {@link UcsStatus#ERR_UNREACHABLE} if it can't be accessed so
     */
    public long localPointer(long remoteAddress) throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            UcpFunctions.check("Asking for a direct pointer to remote memory",
                    UcpFunctions.Memory.RKEY_PTR, address(), remoteAddress, out.address());
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    @Override
    public void close() {
        long destroyed = address;
        if (destroyed == 0) {
            return;
        }
        address = 0;
        if (endpoint.worker().isClosed()) {
            // The memory of the key was the worker's.
            return;
        }
        UcpFunctions.call(UcpFunctions.Memory.RKEY_DESTROY, destroyed, 0, 0);
    }
}
