// SPDX-License-Identifier: Apache-2.0
/**
 * What the binding can do without Netty: one program for each way to communicate. Each runs both sides in one
 * process, on one thread, says what happens, and ends.
 */
package io.github.nettyucx.examples.ucp;
