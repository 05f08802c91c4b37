// SPDX-License-Identifier: Apache-2.0
/**
 * The transport in the shape of Netty 4.2: an {@link io.netty.channel.IoHandler} for Netty's own event loops.
 */
package io.github.nettyucx.io;
