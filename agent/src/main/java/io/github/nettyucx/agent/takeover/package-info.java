// SPDX-License-Identifier: Apache-2.0
/**
 * What one copy of Netty gets instead of its own loops and channels. Each copy has these classes, and the transport's, under
 * its own names.
 */
package io.github.nettyucx.agent.takeover;
