// SPDX-License-Identifier: Apache-2.0
/**
 * Reactor Netty over UCX: its {@code LoopResources}, made of the transport's event loops and channels.
 */
package io.github.nettyucx.reactor;
