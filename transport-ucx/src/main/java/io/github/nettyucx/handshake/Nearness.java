// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Shows two processes to each other that they are on one host, in one network namespace. Whoever is elsewhere can say that he is
 * here, and where something on this host forwards his bytes even the kernel's addresses agree; but he cannot leave a sign here
 * with a number that has just been made up. A sign is of one worker address: who has somebody here leave a sign with a number that
 * he passes on gets nowhere with another address than his. For the event loop's thread.
 */
public interface Nearness {

    /** A sign of this process. */
    @FunctionalInterface
    interface Sign {
        /** Takes the sign away. To be called once. */
        void remove();
    }

    /**
     * Leaves a sign that whoever has made up the number finds if he is near.
     *
     * @param digest {@linkplain #digest of} the peer's nonce and the address that this side is about to send
     * @return {@code null} if it cannot be left
     */
    Sign show(byte[] digest);

    /**
     * Whether a process that is near has left the sign.
     *
     * @param digest {@linkplain #digest of} this side's own nonce and the address that has come
     * @throws IOException if that cannot be told
     */
    boolean isShown(byte[] digest) throws IOException;

    /**
     * What a sign is made of: SHA-256 of both.
     *
     * @param nonce of who looks for the sign
     * @param address of the worker of who leaves it
     */
    static byte[] digest(byte[] nonce, byte[] address) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(nonce);
            return sha256.digest(address);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
