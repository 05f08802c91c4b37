// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

/** One place did not give a usable library; the message says why, as the end of a sentence that names the place. */
final class LibraryRejected extends Exception {
    private static final long serialVersionUID = 1L;

    LibraryRejected(String message) {
        super(message);
    }

    LibraryRejected(String message, Throwable cause) {
        super(message, cause);
    }
}
