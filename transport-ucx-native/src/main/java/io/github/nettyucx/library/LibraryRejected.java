// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;

/** One place did not give a usable library; the message says why, as the end of a sentence that names the place. */
final class LibraryRejected extends Exception {
    private static final long serialVersionUID = 1L;

    private static final int ENOMEM = 12;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;

    private final boolean momentary;

    LibraryRejected(String message) {
        this(message, null);
    }

    LibraryRejected(String message, Throwable cause) {
        this(message, cause, false);
    }

    /** @param momentary whether it can be otherwise in a moment, also if no {@link IOException} says so */
    LibraryRejected(String message, Throwable cause, boolean momentary) {
        super(message, cause);
        this.momentary = momentary;
    }

    /** Whether it can be otherwise in a moment: something was short, or could not be read, rather than wrong. */
    boolean isMomentary() {
        for (Throwable t = this; t != null; t = t.getCause()) {
            boolean unreadable = switch (t) {
                case NoSuchFileException none -> false;
                // As which the JDK tells of a shortage, too.
                case FileNotFoundException none -> isShortage(String.valueOf(none.getMessage()));
                default -> t instanceof IOException;
            };
            if (unreadable || t instanceof LibraryRejected rejected && rejected.momentary) {
                return true;
            }
        }
        return false;
    }

    /** Whether it was memory that was short, or descriptors. */
    static boolean isShortage(String message) {
        return message.contains(Libc.strerror(EMFILE)) || message.contains(Libc.strerror(ENFILE))
                || message.contains(Libc.strerror(ENOMEM));
    }
}
