// SPDX-License-Identifier: Apache-2.0
/**
 * The transport as a Netty application sees it: event loops, channels and their options.
 */
package io.github.nettyucx.channel;
