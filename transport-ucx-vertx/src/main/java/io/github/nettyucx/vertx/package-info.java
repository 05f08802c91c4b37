// SPDX-License-Identifier: Apache-2.0
/**
 * Vert.x 5 over UCX: its transport, made of the UCX transport's event loops and channels.
 */
package io.github.nettyucx.vertx;
