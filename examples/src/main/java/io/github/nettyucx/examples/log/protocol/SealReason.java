// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

/** Why a segment takes no more records. */
public enum SealReason {
    /** The next record does not fit. */
    FULL,
    /** A place was reserved, and not filled in time. */
    TIMED_OUT,
    /** What was written is no record. */
    DAMAGED,
    /** Those who had access have gone. */
    LEFT
}
