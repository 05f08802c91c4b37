// SPDX-License-Identifier: Apache-2.0
package org.apache.ignite.internal.network.netty;

import io.netty.channel.nio.NioEventLoopGroup;

/** Has the name by which the agent knows a group of Apache Ignite 3. */
public final class NamedNioEventLoopGroup extends NioEventLoopGroup {

    public NamedNioEventLoopGroup() {
        super(2);
    }
}
