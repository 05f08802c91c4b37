// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of the process, as C code has it: {@code environ} of environ(7), a list of pointers to
 * {@code NAME=value}.
 *
 * <p>Other threads read that list without a lock: {@code getenv}, and the kernel when a thread starts a process.
 * {@code setenv} of glibc moves the list as it grows, and frees the one before; a thread that starts a process just then fails
 * ("posix_spawn failed, error: 14 (Bad address)"). So what is added here is added by one store: readers have the list
 * before, which stays as it is, or the new one.
 */
final class Environ {
    private static final VarHandle POINTER = JAVA_LONG.varHandle();
    private static final int POINTER_SIZE = (int) JAVA_LONG.byteSize();

    private Environ() {
    }

    /**
     * Sets variables, also such as are set already, or takes them away. What is set is never given back. Two threads must not
     * do that at the same time, here or by {@code setenv}.
     *
     * @param variables by name; {@code null} for one that is to be taken away
     */
    static synchronized void put(Map<String, String> variables) {
        if (variables.isEmpty()) {
            return;
        }
        Optional<MemorySegment> environ = Linker.nativeLinker().defaultLookup().find("environ");
        if (environ.isPresent()) {
            swap(environ.get().reinterpret(POINTER_SIZE), variables);
        }
        // Where the symbol is a copy that libc does not read, in a program that is linked in an unusual way.
        for (Map.Entry<String, String> variable : variables.entrySet()) {
            String value = variable.getValue();
            if (value != null && !value.equals(Libc.getenv(variable.getKey()))) {
                Libc.setenv(variable.getKey(), value);
            }
        }
    }

    private static void swap(MemorySegment environ, Map<String, String> variables) {
        List<Long> entries = new ArrayList<>();
        Map<String, String> missing = new LinkedHashMap<>(variables);
        missing.values().removeAll(Collections.singleton(null));
        for (long entry : entries((long) POINTER.getVolatile(environ, 0L))) {
            String name = nameOf(entry);
            String value = missing.remove(name);
            if (value != null) {
                entries.add(newEntry(name, value));
            } else if (!variables.containsKey(name)) {
                entries.add(entry);
            }
        }
        for (Map.Entry<String, String> variable : missing.entrySet()) {
            entries.add(newEntry(variable.getKey(), variable.getValue()));
        }
        entries.add(0L);
        MemorySegment list = Arena.global().allocate(JAVA_LONG, entries.size());
        for (int i = 0; i < entries.size(); i++) {
            list.setAtIndex(JAVA_LONG, i, entries.get(i));
        }
        POINTER.setVolatile(environ, 0L, list.address());
    }

    private static List<Long> entries(long list) {
        List<Long> entries = new ArrayList<>();
        if (list != 0) {
            MemorySegment pointers = MemorySegment.ofAddress(list).reinterpret(Long.MAX_VALUE);
            for (long i = 0; pointers.getAtIndex(JAVA_LONG, i) != 0; i++) {
                entries.add(pointers.getAtIndex(JAVA_LONG, i));
            }
        }
        return entries;
    }

    /** Up to the equals sign, if there is one. */
    private static String nameOf(long entry) {
        String text = MemorySegment.ofAddress(entry).reinterpret(Long.MAX_VALUE).getString(0);
        int end = text.indexOf('=');
        return end < 0 ? text : text.substring(0, end);
    }

    private static long newEntry(String name, String value) {
        return Arena.global().allocateFrom(name + '=' + value).address();
    }
}
