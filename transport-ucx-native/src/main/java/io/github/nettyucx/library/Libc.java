// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The few calls of libc and the dynamic linker that loading UCX takes.
 *
 * <p>{@code dlopen} is called directly, not through {@code SymbolLookup.libraryLookup}: that one binds lazily, so a
 * library with an unresolvable symbol would end the process at its first use, and it keeps {@code dlerror}'s text, which
 * says what is wrong with a library, to itself.
 */
final class Libc {
    static final int RTLD_NOW = 2;
    static final int RTLD_NOLOAD = 4;

    private static final int LC_NUMERIC_MASK = 1 << 1;

    private static final Linker LINKER = Linker.nativeLinker();

    /*
     * All calls are of one shape, whatever the functions take and return: the virtual machine makes classes for each
     * shape, which takes longer than to load UCX. Integers and pointers travel in registers of 64 bits, of which a
     * function looks at the bits of its own type, and at its own arguments only; who calls takes of the result the bits
     * that its type has (System V ABI for AMD64, 3.2.3; AAPCS64, 6.8.2). UcpFunctions has the same one. It takes the
     * function's address first, for the functions that are bound to it.
     */
    private static final MethodHandle SHAPE =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    private static final MethodHandle DLOPEN = bind("dlopen");
    private static final MethodHandle DLCLOSE = bind("dlclose");
    private static final MethodHandle DLSYM = bind("dlsym");
    private static final MethodHandle DLADDR = bind("dladdr");
    private static final MethodHandle DLERROR = bind("dlerror");
    private static final MethodHandle SETENV = bind("setenv");
    private static final MethodHandle GETENV = bind("getenv");
    private static final MethodHandle GETEUID = bind("geteuid");
    private static final MethodHandle USELOCALE = bind("uselocale");
    private static final MethodHandle DUPLOCALE = bind("duplocale");
    private static final MethodHandle NEWLOCALE = bind("newlocale");
    private static final MethodHandle FREELOCALE = bind("freelocale");

    private Libc() {
    }

    /** Does nothing but have this class initialized. */
    static void prepare() {
    }

    /** Opens a library and its dependencies, all symbols bound at once; throws with the linker's own explanation. */
    static MemorySegment dlopen(Path path) throws LibraryRejected {
        try (Arena arena = Arena.ofConfined()) {
            long handle = call(DLOPEN, string(arena, path.toString()), RTLD_NOW, 0);
            if (handle == 0) {
                throw new LibraryRejected(dlerror());
            }
            return MemorySegment.ofAddress(handle);
        }
    }

    /** The handle of a library that is in the process already, by its soname. */
    static Optional<MemorySegment> dlopenLoaded(String soname) {
        try (Arena arena = Arena.ofConfined()) {
            return present(call(DLOPEN, string(arena, soname), RTLD_NOW | RTLD_NOLOAD, 0));
        }
    }

    static void dlclose(MemorySegment handle) {
        call(DLCLOSE, handle.address(), 0, 0);
    }

    /** Finds a symbol in the library of that handle, or in one that it depends on. */
    static Optional<MemorySegment> dlsym(MemorySegment handle, String name) {
        try (Arena arena = Arena.ofConfined()) {
            return present(call(DLSYM, handle.address(), string(arena, name), 0));
        }
    }

    /** The file from which the code at this address was loaded. */
    static Optional<Path> fileOf(MemorySegment symbol) {
        try (Arena arena = Arena.ofConfined()) {
            // Dl_info: dli_fname, dli_fbase, dli_sname, dli_saddr
            MemorySegment info = arena.allocate(4 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
            if ((int) call(DLADDR, symbol.address(), info.address(), 0) == 0) {
                return Optional.empty();
            }
            String name = string(info.get(JAVA_LONG, 0));
            return name == null ? Optional.empty() : Optional.of(Path.of(name));
        }
    }

    /** Sets a variable of the process's environment, as C code sees it. See {@link Environ}, which is to be preferred. */
    static void setenv(String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            if ((int) call(SETENV, string(arena, name), string(arena, value), 1) != 0) {
                throw new IllegalStateException("setenv failed for " + name);
            }
        }
    }

    /** A variable of the process's environment as C code sees it, or null. */
    static String getenv(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return string(call(GETENV, string(arena, name), 0, 0));
        }
    }

    /** What an error number is called in the language of the process, in which the linker and the JDK tell it. */
    static String strerror(int errno) {
        return string(call(bind("strerror"), errno, 0, 0));
    }

    static int geteuid() {
        return (int) call(GETEUID, 0, 0, 0);
    }

    /** This thread's {@code locale_t}. */
    static long locale() {
        return call(USELOCALE, 0, 0, 0);
    }

    /** Something that runs in another locale. */
    interface Action<T, X extends Exception> {
        T run() throws X;
    }

    /** Runs an action on this thread with LC_NUMERIC=C; must not be called on a virtual thread. */
    static <T, X extends Exception> T withNumericLocaleC(Action<T, X> action) throws X {
        try (Arena arena = Arena.ofConfined()) {
            long base = call(DUPLOCALE, locale(), 0, 0);
            long numericC = call(NEWLOCALE, LC_NUMERIC_MASK, string(arena, "C"), base);
            if (numericC == 0) {
                throw new IllegalStateException("newlocale failed");
            }
            long replaced = call(USELOCALE, numericC, 0, 0);
            try {
                return action.run();
            } finally {
                long ours = call(USELOCALE, replaced, 0, 0);
                call(FREELOCALE, ours, 0, 0);
            }
        }
    }

    /**
     * Calls a function that takes nothing and returns a C string.
     *
     * @return a copy of the string, or null for NULL
     */
    static String stringOf(MemorySegment function) {
        return string(call(SHAPE.bindTo(function), 0, 0, 0));
    }

    private static long call(MethodHandle function, long first, long second, long third) {
        try {
            return (long) function.invokeExact(first, second, third);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static long string(Arena arena, String text) {
        return arena.allocateFrom(text).address();
    }

    /** Copies a C string, null for NULL. */
    private static String string(long address) {
        return address == 0 ? null : MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE).getString(0);
    }

    private static Optional<MemorySegment> present(long address) {
        return address == 0 ? Optional.empty() : Optional.of(MemorySegment.ofAddress(address));
    }

    private static String dlerror() {
        String text = string(call(DLERROR, 0, 0, 0));
        return text == null ? "dlopen failed without saying why" : text;
    }

    private static MethodHandle bind(String name) {
        Optional<MemorySegment> function = LINKER.defaultLookup().find(name);
        if (function.isEmpty()) {
            throw new UnsatisfiedLinkError("the C library has no " + name);
        }
        return SHAPE.bindTo(function.get());
    }

    private static RuntimeException unexpected(Throwable t) {
        return switch (t) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException(t);
        };
    }
}
