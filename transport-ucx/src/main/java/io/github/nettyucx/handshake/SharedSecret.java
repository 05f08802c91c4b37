// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What both sides know and nobody else: each proves it to the other without saying it. Immutable; any thread.
 *
 * <p>Whoever sees a handshake can try secrets against it at leisure, so it has to be random, not a password:
 * {@code head -c 32 /dev/urandom | base64}.
 */
public final class SharedSecret {

    /** The least bytes that a secret has. */
    public static final int MIN_LENGTH = 16;
    /** The most bytes that a secret has. */
    public static final int MAX_LENGTH = 4096;
    /** Where it is set, for messages. */
    static final String SETTING = "UcxChannelOption.SHARED_SECRET or -Dio.github.nettyucx.secretFile";

    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] bytes;

    private SharedSecret(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * @param bytes {@value #MIN_LENGTH} to {@value #MAX_LENGTH} of them; they are copied
     * @throws IllegalArgumentException if there are fewer or more
     */
    public static SharedSecret of(byte[] bytes) {
        if (bytes.length < MIN_LENGTH || bytes.length > MAX_LENGTH) {
            throw new IllegalArgumentException("a shared secret of " + bytes.length + " bytes; expected "
                    + MIN_LENGTH + " to " + MAX_LENGTH);
        }
        return new SharedSecret(bytes.clone());
    }

    /**
     * The contents of a file, without the line end if it has one at its end.
     *
     * @throws IOException if it cannot be read, or is too short or too long for a secret
     */
    public static SharedSecret read(Path file) throws IOException {
        byte[] content;
        try (var in = Files.newInputStream(file)) {
            // Not all of what may be a wrong file, or one without an end.
            content = in.readNBytes(MAX_LENGTH + 3);
        } catch (NoSuchFileException e) {
            throw new IOException("there is no file " + file + " with the shared secret", e);
        } catch (IOException e) {
            throw new IOException("the shared secret cannot be read from " + file + ": " + e.getMessage(), e);
        }
        int end = content.length;
        if (end > 0 && content[end - 1] == '\n') {
            end--;
            if (end > 0 && content[end - 1] == '\r') {
                end--;
            }
        }
        if (end < MIN_LENGTH || end > MAX_LENGTH) {
            throw new IOException("the shared secret in " + file + " has "
                    + (end > MAX_LENGTH ? "too many" : Integer.toString(end)) + " bytes; expected " + MIN_LENGTH
                    + " to " + MAX_LENGTH + ", and a line end at most");
        }
        return of(Arrays.copyOf(content, end));
    }

    /** HMAC-SHA256 over the label in ASCII and the parts, one after the other: 32 bytes. */
    byte[] proof(String label, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(bytes, ALGORITHM));
            mac.update(label.getBytes(StandardCharsets.US_ASCII));
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no " + ALGORITHM, e);
        }
    }

    /** Says nothing of what it is. */
    @Override
    public String toString() {
        return "SharedSecret";
    }
}
