// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

/**
 * What this side of a connection has announced in its handshake.
 *
 * @param channelId  that the peer puts into the tags of its messages
 * @param window     in bytes
 * @param maxMessage in bytes, at most the window
 */
public record ConnectionLimits(int channelId, int window, int maxMessage) {
}
