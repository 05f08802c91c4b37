// SPDX-License-Identifier: Apache-2.0
/**
 * The handshake: what two peers say to each other on the control socket before the first byte of the application, and
 * the choice of the lane that its bytes take. Written down for other implementers in {@code docs/wire-protocol.md}.
 *
 * <p>{@link io.github.nettyucx.handshake.ClientHandshake} and {@link io.github.nettyucx.handshake.ServerHandshake} are
 * state machines over bytes: what has come in is given to {@code received}, what is to go out is given to an
 * {@link io.github.nettyucx.handshake.Handshake.Owner}. They do no input or output, know no clock and nothing of UCX;
 * links are somebody else's, behind {@link io.github.nettyucx.handshake.Links}. So they run in tests without a network.
 *
 * <p>Nothing that a peer sends is given to UCX before his first frame was found to be valid, and, where a secret is
 * set, before he has proved that he knows it.
 */
package io.github.nettyucx.handshake;
