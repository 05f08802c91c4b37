// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** Code of an application's that throws. */
enum Fault {
    NONE,
    HANDLER_ADDED,
    HANDLER_REMOVED,
    CHANNEL_REGISTERED,
    CHANNEL_UNREGISTERED,
    CHANNEL_ACTIVE,
    CHANNEL_INACTIVE,
    CHANNEL_READ,
    CHANNEL_READ_COMPLETE,
    /** When the peer has ended its output. */
    USER_EVENT_TRIGGERED,
    CHANNEL_WRITABILITY_CHANGED,
    /** After {@link #CHANNEL_READ}. */
    EXCEPTION_CAUGHT,
    WRITE,
    FLUSH,
    READ,
    CLOSE,
    /** An {@code Error} rather than an exception. */
    ERROR_IN_CHANNEL_READ,
    STACK_OVERFLOW_IN_CHANNEL_READ,
    /** The executor of a handler ends, and takes nothing any more. */
    REJECTING_EXECUTOR,
    INITIALIZER,
    WRITE_LISTENER,
    CLOSE_LISTENER,
    RECEIVE_ALLOCATOR,
    RECEIVE_GUESS,
    /** When it is told how much has been read. */
    RECEIVE_COUNT,
    SIZE_ESTIMATOR,
    /** Outside of what Netty's own transports guard: their loops get it, and rest for a second. */
    NEW_HANDLE,
    /** The same. */
    HANDLE_RESET,
    /** The same, of the channel that listens, which tries it again. */
    NEW_HANDLE_OF_LISTENER;

    /** Whether Netty's loops log it and rest, so that it is not to be tried on loops that others use. */
    boolean isTheLoops() {
        return compareTo(NEW_HANDLE) >= 0;
    }
}
