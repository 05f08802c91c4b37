// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.wire.Inbound;

/** Makes the buffers that bytes are read into: native memory in one piece. */
@FunctionalInterface
public interface Allocation extends Inbound.Allocation {
}
