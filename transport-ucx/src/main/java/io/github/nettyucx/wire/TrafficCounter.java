// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** What {@link Traffic} counts beside messages by their size. */
public enum TrafficCounter {
    /** Of the stream, without tags and what UCX adds. */
    BYTES_SENT,
    BYTES_RECEIVED,
    /** Sends that UCX did not complete in the call. */
    SENDS_DEFERRED,
    /** Receives that UCX did not complete in the call. */
    RECEIVES_DEFERRED,
    /** Messages that were copied together from the application's buffers, and these buffers. */
    MESSAGES_GATHERED,
    BUFFERS_GATHERED,
    /** How often there was something to send and no credit for it. */
    CREDIT_WAITS,
    CREDIT_MESSAGES_SENT,
    CREDIT_MESSAGES_RECEIVED,
    CONNECTIONS_OPENED,
    CONNECTIONS_CLOSED
}
