// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** What a context is to be used for; UCX sets up nothing that wasn't asked for. */
public enum UcpFeature {

    /** Tagged messages: {@link UcpTag}. */
    TAG(UcpConstants.UCP_FEATURE_TAG),
    /** Access to a peer's memory: {@link UcpRma}. */
    RMA(UcpConstants.UCP_FEATURE_RMA),
    /** 32-bit atomic operations: {@link UcpAtomic}. */
    AMO32(UcpConstants.UCP_FEATURE_AMO32),
    /** 64-bit atomic operations: {@link UcpAtomic}. */
    AMO64(UcpConstants.UCP_FEATURE_AMO64),
    /** {@link UcpWorker#arm()}, {@link UcpWorker#eventFd()} and {@link UcpWorker#signal()}. */
    WAKEUP(UcpConstants.UCP_FEATURE_WAKEUP),
    /** Byte streams: {@link UcpStream}. */
    STREAM(UcpConstants.UCP_FEATURE_STREAM),
    /** Active messages: {@link UcpActiveMessage}. */
    AM(UcpConstants.UCP_FEATURE_AM);

    final int bit;

    UcpFeature(int bit) {
        this.bit = bit;
    }
}
