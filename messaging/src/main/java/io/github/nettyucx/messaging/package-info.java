// SPDX-License-Identifier: Apache-2.0
/**
 * Typed messages and requests between nodes that have ids, from any number of threads. Begin with
 * {@link io.github.nettyucx.messaging.Node}.
 */
package io.github.nettyucx.messaging;
