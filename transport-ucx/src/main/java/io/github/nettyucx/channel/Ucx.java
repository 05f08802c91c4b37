// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.library.UcxVersion;
import io.netty.util.internal.SystemPropertyUtil;

import java.nio.file.Path;

/**
 * Tells whether the UCX transport can be used in this process.
 * <p>
 * The first use of this class looks for UCX and loads it; see {@link UcxLibrary} for where it looks. Any thread may
 * call.
 */
public final class Ucx {

    private static final UcxLibrary LIBRARY;
    private static final Throwable UNAVAILABILITY_CAUSE;

    static {
        UcxLibrary library = null;
        Throwable cause = null;
        if (SystemPropertyUtil.getBoolean("io.netty.transport.noNative", false)) {
            cause = new UnsupportedOperationException(
                    "native transports are switched off by -Dio.netty.transport.noNative=true");
        } else {
            try {
                library = UcxLibrary.load();
            } catch (Throwable t) {
                cause = t;
            }
        }
        LIBRARY = library;
        UNAVAILABILITY_CAUSE = cause;
    }

    private Ucx() {
    }

    /** Whether UCX has been loaded, and {@link UcxEventLoopGroup} can be used. */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /**
     * Does nothing if UCX is available.
     *
     * @throws UnsatisfiedLinkError if not, with {@link #unavailabilityCause()} as its cause
     */
    public static void ensureAvailability() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw (Error) new UnsatisfiedLinkError("failed to load the required native library: "
                    + UNAVAILABILITY_CAUSE.getMessage()).initCause(UNAVAILABILITY_CAUSE);
        }
    }

    /** Why UCX is not available: its message names every place that was tried. {@code null} if it is available. */
    public static Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** The version of UCX in use, such as {@code 1.22.0}, or {@code null} if it is not available. */
    public static String version() {
        return LIBRARY == null ? null : LIBRARY.version().toString();
    }

    /** Where UCX's {@code libucp} was loaded from, or {@code null} if it is not available. */
    public static String libraryPath() {
        Path path = LIBRARY == null ? null : LIBRARY.path();
        return path == null ? null : path.toString();
    }

    /** The version in the form that HELLO carries. */
    static int packedVersion() {
        UcxVersion version = LIBRARY.version();
        return version.major() << 24 | version.minor() << 16 | version.release();
    }
}
