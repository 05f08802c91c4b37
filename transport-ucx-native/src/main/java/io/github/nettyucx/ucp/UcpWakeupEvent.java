// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** What makes an armed worker's file descriptor readable. */
public enum UcpWakeupEvent {

    /** A remote memory access has completed. */
    RMA(UcpConstants.UCP_WAKEUP_RMA),
    /** An atomic operation has completed. */
    AMO(UcpConstants.UCP_WAKEUP_AMO),
    /** A tagged send has completed. */
    TAG_SEND(UcpConstants.UCP_WAKEUP_TAG_SEND),
    /** A tagged receive has completed. */
    TAG_RECEIVE(UcpConstants.UCP_WAKEUP_TAG_RECV),
    /** Any outgoing operation has completed, wholly or in part. */
    TX(UcpConstants.UCP_WAKEUP_TX),
    /** Anything was received, wholly or in part. */
    RX(UcpConstants.UCP_WAKEUP_RX),
    /** Not an event: the descriptor tells of new events only. */
    EDGE(UcpConstants.UCP_WAKEUP_EDGE);

    final int bit;

    UcpWakeupEvent(int bit) {
        this.bit = bit;
    }
}
