// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** Where the handler of a type is called. */
public enum Dispatch {

    /**
     * On the event loop, in the order in which a thread of the sender has sent. The fastest; a handler must not block. The
     * default.
     */
    LOOP,

    /** By the node's executor, in any order, several at a time. */
    POOL,

    /** By the node's executor, one after the other for each sender, in the order in which a thread of it has sent. */
    POOL_IN_ORDER
}
