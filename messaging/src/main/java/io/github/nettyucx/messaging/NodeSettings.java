// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** What {@link NodeBuilder} has been told; see its methods. Sizes are in bytes. */
record NodeSettings(int id, int ringCapacity, long overflow, int maxMessage, long sendTimeoutNanos, long reachTimeoutNanos,
                    long requestSpinNanos, int maxRequests, int maxConnections, int maxPeers, long closeTimeoutNanos,
                    long goodbyeNanos) {
}
