// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.security.MessageDigest;

/**
 * How each side shows that it takes part in this very conversation, and, with a secret, that it knows the secret. Both
 * nonces are in what is covered, so that no proof of another conversation fits; the labels keep the server's from being
 * sent back to it as the client's.
 */
record Proofs(boolean secret, byte[] server, byte[] client) {

    /** Of a proof, in bytes. */
    static final int LENGTH = 32;

    private static final String SERVER = "netty-ucx/2 server";
    private static final String CLIENT = "netty-ucx/2 client";

    /**
     * @param secret or null; without one no class of {@code javax.crypto} is loaded, which would take time at the start
     *         of a process
     * @param hello all bytes of HELLO
     * @param answer all bytes of ANSWER before the proof
     */
    static Proofs of(SharedSecret secret, byte[] hello, byte[] answer, byte[] clientNonce, byte[] serverNonce) {
        if (secret == null) {
            return new Proofs(false, clientNonce, serverNonce);
        }
        return new Proofs(true, secret.proof(SERVER, hello, answer), secret.proof(CLIENT, hello, answer));
    }

    /** @throws HandshakeException if the peer's proof is not the right one */
    void check(Side peer, byte[] proof) throws HandshakeException {
        if (MessageDigest.isEqual(peer == Side.SERVER ? server : client, proof)) {
            return;
        }
        if (secret) {
            throw new HandshakeException(HandshakeFailure.WRONG_SECRET, peer + "'s proof is wrong: it has another"
                    + " shared secret, or what was said has been changed on its way");
        }
        throw HandshakeException.violation(peer + "'s proof is not the nonce of " + peer.other()
                + ": it belongs to another connection");
    }

    /** @throws HandshakeException if only one side has a secret */
    static void checkBothOrNone(boolean own, boolean theirs, Side peer) throws HandshakeException {
        if (own != theirs) {
            Side without = own ? peer : peer.other();
            throw new HandshakeException(HandshakeFailure.NO_SECRET, without + " has no shared secret, "
                    + without.other() + " has one: set the same on both sides, by " + SharedSecret.SETTING);
        }
    }
}
