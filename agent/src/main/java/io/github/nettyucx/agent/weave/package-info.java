// SPDX-License-Identifier: Apache-2.0
/**
 * Finds copies of Netty as their classes are loaded, has them ask the agent, and gives each of them the transport under its
 * own names. Knows no Netty; one for the process.
 */
package io.github.nettyucx.agent.weave;
