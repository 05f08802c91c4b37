// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * Who takes part in a link: one event loop of one process.
 *
 * @param process the process
 * @param engine random, of the event loop
 */
public record Party(ProcessIdentity process, long engine) {

    // Written out as in ProcessIdentity.

    @Override
    public boolean equals(Object other) {
        return other instanceof Party party && engine == party.engine && process.equals(party.process);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(engine);
    }
}
