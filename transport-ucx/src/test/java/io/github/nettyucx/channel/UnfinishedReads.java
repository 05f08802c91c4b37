// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.FixedRecvByteBufAllocator;

/** An allocator that throws whenever it is told that a read is over. */
@SuppressWarnings("deprecation")
final class UnfinishedReads extends FixedRecvByteBufAllocator {

    /** @param size of each buffer, in bytes */
    UnfinishedReads(int size) {
        super(size);
    }

    @Override
    public Handle newHandle() {
        return new DelegatingHandle(super.newHandle()) {
            @Override
            public void readComplete() {
                throw new IllegalStateException("a read never ends, as the test wants it");
            }
        };
    }
}
