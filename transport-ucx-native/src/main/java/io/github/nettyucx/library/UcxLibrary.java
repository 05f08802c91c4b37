// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The UCX that this process uses: found, checked, and loaded at most once.
 *
 * <p>The system property {@value #PROPERTY} chooses where it comes from:
 * <ul>
 *   <li>{@code auto} (default): a UCX that is in the process already; else the machine's own, if the machine has RDMA
 *       devices, for which only that one can have been built, or if it is not older than the bundled one; else the
 *       bundled one; else an older one of the machine's, {@link UcxVersion#MINIMUM} or later;</li>
 *   <li>{@code system}: the machine's own;</li>
 *   <li>{@code bundled}: the one from the jar {@code netty-transport-native-ucx} with the platform's classifier,
 *       extracted to a directory below {@value #WORKDIR_PROPERTY} (default: {@code java.io.tmpdir});</li>
 *   <li>an absolute path: that {@code libucp.so}, or the one in that directory.</li>
 * </ul>
 *
 * <p>All methods may be called from any thread.
 */
public final class UcxLibrary {
    /** The system property that says which UCX to load. */
    public static final String PROPERTY = "io.github.nettyucx.library";
    /** The system property that names the directory below which bundled libraries are extracted. */
    public static final String WORKDIR_PROPERTY = "io.github.nettyucx.workdir";
    /** The {@link #origin()} of the one that this project brings along. */
    public static final String BUNDLED = "bundled";
    /**
     * The system property in which the path of a UCX stands that this transport has loaded. By it a second copy of this
     * class, of another class loader, tells that one from a UCX that something else has loaded.
     */
    static final String LOADED_PROPERTY = "io.github.nettyucx.loaded";

    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    // Guarded by the class's monitor.
    private static UcxLibrary loaded;
    /** Its words alone: with its stack trace it would hold the class loaders of whoever came first. */
    private static String failure;
    /** When what has failed is looked for again; 0: never. */
    private static long retryNanos;

    private final MemorySegment handle;
    private final Path path;
    private final UcxVersion version;
    private final String origin;

    UcxLibrary(MemorySegment handle, Path path, UcxVersion version, String origin) {
        this.handle = handle;
        this.path = path;
        this.version = version;
        this.origin = origin;
    }

    /**
     * Loads UCX, or returns what an earlier call loaded.
     *
     * @return the library, the same object each time
     * @throws UnsatisfiedLinkError when no usable UCX can be loaded; the message lists every place that was tried, what
     *                              was wrong there, and what to do. Later calls throw a new error with the same message,
     *                              or search again, after a second, if something was short, or could not be read
     */
    public static synchronized UcxLibrary load() {
        if (loaded != null) {
            return loaded;
        }
        if (failure != null && (retryNanos == 0 || System.nanoTime() - retryNanos < 0)) {
            throw new UnsatisfiedLinkError(failure);
        }
        LibrarySearch search = null;
        try {
            search = LibrarySearch.fromSystemProperties();
            loaded = onPlatformThread(search::run);
            return loaded;
        } catch (Throwable t) {
            Throwable explained = LibrarySearch.explain(t);
            boolean momentary = t instanceof VirtualMachineError || search != null && search.isMomentary();
            failure = explained.getMessage();
            // 0 is for those that are final.
            retryNanos = momentary ? System.nanoTime() + RETRY_NANOS | 1 : 0;
            UnsatisfiedLinkError error = new UnsatisfiedLinkError(explained.getMessage());
            error.initCause(explained);
            throw error;
        }
    }

    /**
     * Binds the functions of the C library that loading takes, which the first call of {@link #load()} would do otherwise: in
     * a JVM that has just started, a large part of what it takes. Looks for nothing, loads nothing, and logs nothing.
     */
    public static void prepare() {
        Libc.prepare();
    }

    /** Finds UCX's functions: those of libucp, and of libucs and libuct, on which it depends. */
    public SymbolLookup symbols() {
        return name -> Libc.dlsym(handle, name);
    }

    /** The libucp that was loaded. */
    public Path path() {
        return path;
    }

    /** What the loaded library says about its version. */
    public UcxVersion version() {
        return version;
    }

    /**
     * Where the library came from: {@code explicit}, {@code system}, {@value #BUNDLED}, or {@code process} when it was
     * in the process before, loaded by something else or by another copy of this class, which {@code auto} and
     * {@code system} accept.
     */
    public String origin() {
        return origin;
    }

    /**
     * Runs an action while numbers are written with a decimal point for the C code that this thread calls, whatever the
     * user's locale. UCX reads its configuration with locale-dependent functions, so whatever makes it do that
     * ({@code ucp_config_read}, {@code ucp_config_modify}, {@code ucp_init}, {@code ucp_worker_create}) belongs in here.
     * Configurations, contexts and workers of this binding are made so.
     *
     * @param action runs on the calling thread, or on a platform thread if the caller is a virtual one
     * @param <T>    type of the result
     * @return what the action returned
     */
    public static <T> T withNumericLocaleC(Supplier<T> action) {
        return Thread.currentThread().isVirtual() ? onPlatformThread(() -> inNumericLocaleC(action))
                : inNumericLocaleC(action);
    }

    private static <T> T inNumericLocaleC(Supplier<T> action) {
        return Libc.withNumericLocaleC(action::get);
    }

    @Override
    public String toString() {
        return "UCX " + version + " (" + origin + ") from " + path;
    }

    /** A thread's C locale belongs to the carrier, which a virtual thread may leave at any time. */
    private static <T> T onPlatformThread(Supplier<T> action) {
        if (!Thread.currentThread().isVirtual()) {
            return action.get();
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().name("netty-ucx-locale").start(() -> {
            try {
                result.complete(action.get());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        });
        try {
            return result.join();
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                default -> throw e;
            }
        }
    }
}
