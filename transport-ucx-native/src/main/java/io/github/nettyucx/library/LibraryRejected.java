// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;

/** One place did not give a usable library; the message says why, as the end of a sentence that names the place. */
final class LibraryRejected extends Exception {
    private static final long serialVersionUID = 1L;

    LibraryRejected(String message) {
        super(message);
    }

    LibraryRejected(String message, Throwable cause) {
        super(message, cause);
    }

    /** Whether it can be otherwise in a moment: something was short, or could not be read, rather than wrong. */
    boolean isMomentary() {
        for (Throwable t = this; t != null; t = t.getCause()) {
            boolean unreadable = t instanceof IOException && !(t instanceof NoSuchFileException)
                    && !(t instanceof FileNotFoundException);
            if (unreadable || isShortage(String.valueOf(t.getMessage()))) {
                return true;
            }
        }
        return false;
    }

    /** In the words of the C library, which the dynamic linker and the JDK hand on. */
    private static boolean isShortage(String message) {
        return message.contains("Too many open files") || message.contains("Cannot allocate memory");
    }
}
