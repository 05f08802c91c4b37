// SPDX-License-Identifier: Apache-2.0
/**
 * UCX's protocol layer, UCP, called directly from Java. It adds nothing to the C interface but types, exceptions, and
 * an order of closing.
 *
 * <p>There are two ways to call. What happens once in a connection's life is a method of an object, such as
 * {@link io.github.nettyucx.ucp.UcpContext}, {@link io.github.nettyucx.ucp.UcpWorker},
 * {@link io.github.nettyucx.ucp.UcpListener} and {@link io.github.nettyucx.ucp.UcpEndpoint}; it checks, and throws
 * {@link io.github.nettyucx.ucp.UcxException}. What happens for each message is a static method on plain addresses,
 * such as in {@link io.github.nettyucx.ucp.UcpTag}; it allocates nothing, checks nothing, and returns a status
 * pointer (see {@link io.github.nettyucx.ucp.UcsStatus}). Objects give their address with {@code address()}.
 *
 * <p>A worker, and everything on it, is for one thread. The rules are with each class.
 */
package io.github.nettyucx.ucp;
