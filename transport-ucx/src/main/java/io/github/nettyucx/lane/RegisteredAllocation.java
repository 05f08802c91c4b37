// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.worker.RegisteredMemory;
import io.netty.buffer.ByteBuf;

/** Takes buffers for large messages from the loop's registered memory, as long as there are some. */
final class RegisteredAllocation implements Allocation {

    private final RegisteredMemory memory;
    private Allocation other;

    RegisteredAllocation(RegisteredMemory memory) {
        this.memory = memory;
    }

    /** @return this, with what makes all other buffers */
    RegisteredAllocation before(Allocation allocation) {
        other = allocation;
        return this;
    }

    @Override
    public ByteBuf allocate(int length) {
        ByteBuf buffer = memory.receiveBuffer(length);
        return buffer != null ? buffer : other.allocate(length);
    }
}
