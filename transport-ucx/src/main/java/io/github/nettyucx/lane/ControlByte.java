// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import java.lang.foreign.Arena;

/** Where a look at a control socket writes what nobody reads. */
final class ControlByte {

    static final long ADDRESS = Arena.global().allocate(8, 8).address();

    private ControlByte() {
    }
}
