// SPDX-License-Identifier: Apache-2.0
/**
 * The kernel's sockets, called directly from Java, and what a loop over them needs: epoll, pipes, an announcement of a
 * server to the machine's other processes, and random numbers. It knows neither Netty nor UCX.
 *
 * <p>What happens once in a socket's life throws an {@link java.io.IOException} of the kind that {@code java.net}
 * throws. What happens for each message takes plain addresses, allocates nothing, and answers with a count or a
 * negative error number, see {@link io.github.nettyucx.socket.Errno}. As with any pointer, the caller answers for an
 * address.
 *
 * <p>An object is for one thread, unless its class says otherwise.
 */
package io.github.nettyucx.socket;
