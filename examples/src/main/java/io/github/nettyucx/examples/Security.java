// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

/** Whether a connection is encrypted. */
public enum Security {
    PLAINTEXT, TLS;

    @Override
    public String toString() {
        return this == TLS ? "tls" : "plaintext";
    }
}
