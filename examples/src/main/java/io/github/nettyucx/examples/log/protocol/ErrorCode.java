// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

/** Why a request has failed. */
public enum ErrorCode {
    /** The request itself makes no sense. */
    BAD_REQUEST,
    /** The broker has no such partition. */
    UNKNOWN_PARTITION,
    /** The partition has no such record. */
    OUT_OF_RANGE,
    /** What was to be produced is no record, or its CRC is wrong. */
    DAMAGED,
    /** What was to be produced fits into no segment. */
    TOO_LARGE,
    /** Another producer has the partition for itself, or others share it. */
    HELD,
    /** The connection has no access to memory. */
    UNSUPPORTED,
    /** The broker cannot write to its files. */
    STORAGE,
    /** The broker is one of several, and does not lead. The message names the leader, if there is one. */
    NOT_LEADER,
    /** The leader of an epoch that is over wants to write. */
    FENCED,
    /** The broker has no memory for what peers are to reach, or for an answer. */
    NO_MEMORY
}
