// SPDX-License-Identifier: Apache-2.0
/**
 * One-sided access to a peer's memory, over the link of a channel.
 *
 * <p>The owner of memory makes a {@link io.github.nettyucx.memory.UcxMemory} and exports keys to it. A peer opens such a
 * key on a channel to the owner, and has a {@link io.github.nettyucx.memory.UcxRemoteMemory} then. Over shared memory its
 * operations are ordinary loads, stores and atomic instructions of its own. Over other links the owner's event loop
 * executes them, and the application takes no part.
 */
package io.github.nettyucx.memory;
