// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

final class Sha256 {
    private Sha256() {
    }

    static byte[] digest(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
