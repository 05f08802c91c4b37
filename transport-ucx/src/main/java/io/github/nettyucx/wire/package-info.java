// SPDX-License-Identifier: Apache-2.0
/**
 * The wire protocol once two sides have agreed on a link: how a byte stream with flow control and an orderly close is
 * made of UCX messages. Written down for other implementers in {@code docs/wire-protocol.md}. It talks to UCX through
 * {@link io.github.nettyucx.worker.EndpointPort} alone, so that its state machines run in tests without a network.
 */
package io.github.nettyucx.wire;
