// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.library.UcxLibrary;
import io.netty.util.internal.SystemPropertyUtil;

/**
 * Tells whether UCX can be used in this process, and whether the transport can.
 * <p>
 * They are two things: without UCX the transport's connections go over the kernel's sockets. The first question about
 * UCX looks for its library and loads it; see {@link UcxLibrary} for where it looks. Any thread may call.
 */
public final class Ucx {

    private static final Throwable UNUSABLE_CAUSE = unusableCause();

    private Ucx() {
    }

    private static Throwable unusableCause() {
        if (SystemPropertyUtil.getBoolean("io.netty.transport.noNative", false)) {
            return new UnsupportedOperationException(
                    "native transports are switched off by -Dio.netty.transport.noNative=true");
        }
        String system = SystemPropertyUtil.get("os.name", "");
        return system.equals("Linux") ? null : new UnsupportedOperationException(
                "this transport is for Linux, and this is " + system);
    }

    /** Whether UCX has been loaded, so that connections can take its lanes: shared memory, RDMA. */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /**
     * Does nothing if UCX is available.
     *
     * @throws UnsatisfiedLinkError if not, with {@link #unavailabilityCause()} as its cause
     */
    public static void ensureAvailability() {
        Throwable cause = unavailabilityCause();
        if (cause != null) {
            throw linkError(cause);
        }
    }

    /**
     * Why UCX is not available: its message names every place that was tried. {@code null} if it is available. What has failed
     * for want of descriptors, memory or room on a disk is tried again, once a second at most.
     */
    public static Throwable unavailabilityCause() {
        if (UNUSABLE_CAUSE != null) {
            return UNUSABLE_CAUSE;
        }
        try {
            UcxLibrary.load();
            return null;
        } catch (Throwable t) {
            return t;
        }
    }

    /**
     * Does nothing if the transport can be used, with UCX or, over the kernel's sockets, without. Does not look for UCX.
     *
     * @throws UnsatisfiedLinkError if it cannot: on another system than Linux, and where native transports are switched
     *                              off by {@code -Dio.netty.transport.noNative=true}
     */
    public static void ensureUsable() {
        if (UNUSABLE_CAUSE != null) {
            throw linkError(UNUSABLE_CAUSE);
        }
    }

    /** Has what connections need made ready in the background, at most once, as far as the transport can be used. */
    static void prepare() {
        if (UNUSABLE_CAUSE == null) {
            LoopLanes.prepare(SystemPropertyUtil.get(ConfiguredDefaults.LANES_PROPERTY), new FirstConnection());
        }
    }

    private static Error linkError(Throwable cause) {
        return (Error) new UnsatisfiedLinkError("failed to load the required native library: " + cause.getMessage())
                .initCause(cause);
    }

    /** The version of UCX in use, such as {@code 1.22.0}, or {@code null} if it is not available. */
    public static String version() {
        return isAvailable() ? UcxLibrary.load().version().toString() : null;
    }

    /** Where UCX's {@code libucp} was loaded from, or {@code null} if it is not available. */
    public static String libraryPath() {
        return isAvailable() ? UcxLibrary.load().path().toString() : null;
    }
}
