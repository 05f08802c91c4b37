// SPDX-License-Identifier: Apache-2.0
/**
 * The transport as a Netty application sees it: event loops, channels, their options, and what they count.
 *
 * <p>A channel's connection begins as a TCP connection of the kernel's. When the two sides have agreed on what carries its
 * bytes, the channel has a {@link io.github.nettyucx.lane.Lane}, and does not know which.
 */
package io.github.nettyucx.channel;
