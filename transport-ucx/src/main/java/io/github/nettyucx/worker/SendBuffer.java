// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCounted;

/**
 * A buffer that small writes are gathered in. Releasing it returns it to its {@link SendBufferPool}.
 */
public final class SendBuffer extends AbstractReferenceCounted {

    private final SendBufferPool pool;
    private final ByteBuf memory;
    private final long address;

    SendBuffer(SendBufferPool pool, ByteBuf memory, long address) {
        this.pool = pool;
        this.memory = memory;
        this.address = address;
    }

    /** Where the gathered bytes are written to. */
    public ByteBuf memory() {
        return memory;
    }

    /** Of the memory's first byte. */
    public long address() {
        return address;
    }

    @Override
    protected void deallocate() {
        setRefCnt(1);
        memory.clear();
        pool.returned(this);
    }

    @Override
    public ReferenceCounted touch(Object hint) {
        return this;
    }
}
