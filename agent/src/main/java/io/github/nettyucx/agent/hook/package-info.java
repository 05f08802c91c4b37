// SPDX-License-Identifier: Apache-2.0
/** What Netty's own classes call; it is defined in Netty's class loader, below the package that is {@code io.netty} there. */
package io.github.nettyucx.agent.hook;
