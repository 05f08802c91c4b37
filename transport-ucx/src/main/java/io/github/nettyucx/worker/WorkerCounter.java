// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** What the workers of one event loop count. Two that are each other's opposite make a gauge. */
public enum WorkerCounter {
    /** Calls of {@code ucp_worker_progress}. */
    PROGRESS_CALLS,
    /** Those of them that did something. */
    PROGRESS_CALLS_WITH_WORK,
    /** Calls of {@code ucp_worker_arm}. */
    ARM_CALLS,
    /** Operations that UCX did not complete in the call. */
    OPERATIONS_STARTED,
    OPERATIONS_FINISHED,
    /** Messages for channels that nobody has. */
    UNKNOWN_CHANNEL_MESSAGES,
    ENDPOINTS_OPENED,
    ENDPOINTS_CLOSED,
    WORKERS_CREATED,
    WORKERS_DESTROYED,
    /** Buffers that small writes are gathered in, in use and kept for the next use. */
    SEND_BUFFERS_ALLOCATED,
    SEND_BUFFERS_RELEASED,
    /** Runs of memory that are registered with UCX, see {@link RegisteredMemory}. */
    MEMORY_REGISTERED,
    MEMORY_UNREGISTERED,
    /** Sends and receives of memory that is registered. */
    REGISTERED_OPERATIONS
}
