// SPDX-License-Identifier: Apache-2.0
/**
 * What one event loop owns to move bytes with: its UCX workers with their links, its sockets, and the operations that
 * are in flight; their turn, and the wait for the next event. Knows of Netty only its buffers and collections.
 *
 * <p>Everything here belongs to the thread that created the {@link io.github.nettyucx.worker.ProgressEngine}, except
 * where a method says otherwise. Not for applications.
 */
package io.github.nettyucx.worker;
