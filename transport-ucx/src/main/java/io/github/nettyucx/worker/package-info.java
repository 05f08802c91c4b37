// SPDX-License-Identifier: Apache-2.0
/**
 * What one event-loop thread owns of UCX: its workers, their progress and draining, arming and waking, endpoints and
 * the operations that are in flight on them. Knows of Netty only its buffers and collections; everything here is
 * confined to the thread that created the {@link io.github.nettyucx.worker.ProgressEngine}, except where a method
 * says otherwise.
 */
package io.github.nettyucx.worker;
