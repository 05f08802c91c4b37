// SPDX-License-Identifier: Apache-2.0
/**
 * What a channel writes to and reads from: a stream over a link of UCX, or its kernel socket. A channel does not know
 * which it is. Not for applications.
 */
package io.github.nettyucx.lane;
