// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Has the system find memory, or a disk's blocks, for a file without writing to it: Java has no call for that. */
final class Room {
    /** Of Linux; {@code null} elsewhere. */
    private static final Room ROOM = System.getProperty("os.name").equals("Linux") ? new Room(Linker.nativeLinker()) : null;
    private static final int O_WRONLY = 1;
    private static final int O_CLOEXEC = 0x80000;
    /** The file gets as long as that makes it. */
    private static final int EXTEND = 0;

    private final MethodHandle open;
    private final MethodHandle fallocate;
    private final MethodHandle close;

    private Room(Linker linker) {
        open = bind(linker, "open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
        fallocate = bind(linker, "fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
        close = bind(linker, "close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    }

    private static MethodHandle bind(Linker linker, String name, FunctionDescriptor shape, Linker.Option... options) {
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), shape, options);
    }

    /**
     * Finds it for a part of a file that is there. Bytes that have not been written are zeros.
     *
     * @return whether it is found; otherwise writing to the file tells why, or does it
     */
    static boolean find(Path file, long from, long length) {
        try {
            return ROOM != null && ROOM.findIn(file, from, length);
        } catch (Throwable e) {
            throw new AssertionError("a call of C does not throw", e);
        }
    }

    private boolean findIn(Path file, long from, long length) throws Throwable {
        try (var arena = Arena.ofConfined()) {
            var descriptor = (int) open.invokeExact(arena.allocateFrom(file.toString()), O_WRONLY | O_CLOEXEC);
            if (descriptor < 0) {
                return false;
            }
            var result = (int) fallocate.invokeExact(descriptor, EXTEND, from, length);
            var ignored = (int) close.invokeExact(descriptor);
            return result == 0;
        }
    }
}
