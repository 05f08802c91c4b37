// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

final class Sha256 {
    private static final int PART = 16 * 1024;

    private Sha256() {
    }

    static byte[] digest(byte[] bytes) {
        return algorithm().digest(bytes);
    }

    /** Reads to the end; a library is not brought into the heap as a whole, which would then stay as large. */
    static byte[] digest(InputStream in) throws IOException {
        MessageDigest algorithm = algorithm();
        byte[] part = new byte[PART];
        for (int read = in.read(part); read >= 0; read = in.read(part)) {
            algorithm.update(part, 0, read);
        }
        return algorithm.digest();
    }

    private static MessageDigest algorithm() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
