// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * Who takes part in a link: one event loop of one process.
 *
 * @param process the process
 * @param engine random, of the event loop
 */
public record Party(ProcessIdentity process, long engine) {
}
