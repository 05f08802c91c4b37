// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
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
    private static final AddressLayout C_STRING =
            ValueLayout.ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(Long.MAX_VALUE, ValueLayout.JAVA_BYTE));

    private static final MethodHandle DLOPEN = bind("dlopen", MethodType.methodType(
            MemorySegment.class, MemorySegment.class, int.class));
    private static final MethodHandle DLCLOSE = bind("dlclose", MethodType.methodType(int.class, MemorySegment.class));
    private static final MethodHandle DLSYM = bind("dlsym", MethodType.methodType(
            MemorySegment.class, MemorySegment.class, MemorySegment.class));
    private static final MethodHandle DLADDR = bind("dladdr", MethodType.methodType(
            int.class, MemorySegment.class, MemorySegment.class));
    private static final MethodHandle DLERROR = bind("dlerror", MethodType.methodType(MemorySegment.class));
    private static final MethodHandle SETENV = bind("setenv", MethodType.methodType(
            int.class, MemorySegment.class, MemorySegment.class, int.class));
    private static final MethodHandle GETENV = bind("getenv", MethodType.methodType(
            MemorySegment.class, MemorySegment.class));
    private static final MethodHandle GETEUID = bind("geteuid", MethodType.methodType(int.class));
    private static final MethodHandle USELOCALE = bind("uselocale", MethodType.methodType(
            MemorySegment.class, MemorySegment.class));
    private static final MethodHandle DUPLOCALE = bind("duplocale", MethodType.methodType(
            MemorySegment.class, MemorySegment.class));
    private static final MethodHandle NEWLOCALE = bind("newlocale", MethodType.methodType(
            MemorySegment.class, int.class, MemorySegment.class, MemorySegment.class));
    private static final MethodHandle FREELOCALE = bind("freelocale", MethodType.methodType(
            void.class, MemorySegment.class));

    private Libc() {
    }

    /** Opens a library and its dependencies, all symbols bound at once; throws with the linker's own explanation. */
    static MemorySegment dlopen(Path path) throws LibraryRejected {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = (MemorySegment) DLOPEN.invokeExact(arena.allocateFrom(path.toString()), RTLD_NOW);
            if (isNull(handle)) {
                throw new LibraryRejected(dlerror());
            }
            return handle;
        } catch (LibraryRejected e) {
            throw e;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** The handle of a library that is in the process already, by its soname. */
    static Optional<MemorySegment> dlopenLoaded(String soname) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = (MemorySegment) DLOPEN.invokeExact(
                    arena.allocateFrom(soname), RTLD_NOW | RTLD_NOLOAD);
            return isNull(handle) ? Optional.empty() : Optional.of(handle);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void dlclose(MemorySegment handle) {
        try {
            int ignored = (int) DLCLOSE.invokeExact(handle);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Finds a symbol in the library of that handle, or in one that it depends on. */
    static Optional<MemorySegment> dlsym(MemorySegment handle, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment symbol = (MemorySegment) DLSYM.invokeExact(handle, arena.allocateFrom(name));
            return isNull(symbol) ? Optional.empty() : Optional.of(symbol);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** The file from which the code at this address was loaded. */
    static Optional<Path> fileOf(MemorySegment symbol) {
        try (Arena arena = Arena.ofConfined()) {
            // Dl_info: dli_fname, dli_fbase, dli_sname, dli_saddr
            MemorySegment info = arena.allocate(4 * ValueLayout.ADDRESS.byteSize(), ValueLayout.ADDRESS.byteAlignment());
            if ((int) DLADDR.invokeExact(symbol, info) == 0) {
                return Optional.empty();
            }
            return Optional.ofNullable(string(info.get(C_STRING, 0))).map(Path::of);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Sets a variable of the process's environment, as C code sees it, unless it is set already. */
    static void setenvIfAbsent(String name, String value) {
        setenv(name, value, 0);
    }

    static void setenv(String name, String value) {
        setenv(name, value, 1);
    }

    private static void setenv(String name, String value, int overwrite) {
        try (Arena arena = Arena.ofConfined()) {
            if ((int) SETENV.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), overwrite) != 0) {
                throw new IllegalStateException("setenv failed for " + name);
            }
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** A variable of the process's environment as C code sees it, or null. */
    static String getenv(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return string((MemorySegment) GETENV.invokeExact(arena.allocateFrom(name)));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int geteuid() {
        try {
            return (int) GETEUID.invokeExact();
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Runs an action on this thread with LC_NUMERIC=C; must not be called on a virtual thread. */
    static void withNumericLocaleC(Runnable action) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment previous = (MemorySegment) USELOCALE.invokeExact(MemorySegment.NULL);
            MemorySegment base = (MemorySegment) DUPLOCALE.invokeExact(previous);
            MemorySegment numericC = (MemorySegment) NEWLOCALE.invokeExact(
                    LC_NUMERIC_MASK, arena.allocateFrom("C"), base);
            if (isNull(numericC)) {
                throw new IllegalStateException("newlocale failed");
            }
            MemorySegment replaced = (MemorySegment) USELOCALE.invokeExact(numericC);
            try {
                action.run();
            } finally {
                MemorySegment ours = (MemorySegment) USELOCALE.invokeExact(replaced);
                FREELOCALE.invokeExact(ours);
            }
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Binds a function of the given address; every reference is a pointer. */
    static MethodHandle bind(MemorySegment function, MethodType type) {
        MemoryLayout[] parameters = type.parameterList().stream().map(Libc::layout).toArray(MemoryLayout[]::new);
        return LINKER.downcallHandle(function, type.returnType() == void.class
                ? FunctionDescriptor.ofVoid(parameters)
                : FunctionDescriptor.of(layout(type.returnType()), parameters));
    }

    /** Copies a C string, null for NULL. */
    static String string(MemorySegment address) {
        return isNull(address) ? null : address.reinterpret(Long.MAX_VALUE).getString(0);
    }

    private static String dlerror() throws Throwable {
        String text = string((MemorySegment) DLERROR.invokeExact());
        return text == null ? "dlopen failed without saying why" : text;
    }

    private static MethodHandle bind(String name, MethodType type) {
        MemorySegment function = LINKER.defaultLookup().find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
        return bind(function, type);
    }

    private static MemoryLayout layout(Class<?> type) {
        if (type == int.class) {
            return ValueLayout.JAVA_INT;
        }
        if (type == MemorySegment.class) {
            return ValueLayout.ADDRESS;
        }
        throw new IllegalArgumentException(type.toString());
    }

    private static boolean isNull(MemorySegment segment) {
        return segment.address() == 0;
    }

    private static RuntimeException unexpected(Throwable t) {
        return switch (t) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException(t);
        };
    }
}
