// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import io.github.nettyucx.ucp.SharedContexts;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Loads UCX and prints what came of it, then does what its arguments say. */
final class LoadMain {
    private LoadMain() {
    }

    public static void main(String[] actions) throws Throwable {
        List<String> wanted = List.of(actions);
        List<Long> signalsBefore = wanted.contains("signals") ? signalHandlers() : List.of();
        String mmapBefore = wanted.contains("mmap") ? startOfMmap() : "";
        UcxLibrary library;
        try {
            library = wanted.contains("virtual") ? loadOnVirtualThread() : UcxLibrary.load();
        } catch (UnsatisfiedLinkError e) {
            System.out.println("failed " + e.getMessage());
            if (wanted.contains("again")) {
                loadAgain(e);
            }
            if (wanted.contains("mended")) {
                Files.delete(Path.of(System.getProperty("in.the.way")));
                System.out.println("mended " + loadLater().origin());
            }
            if (wanted.contains("property")) {
                System.out.println("property " + System.getProperty(UcxLibrary.LOADED_PROPERTY));
            }
            System.exit(3);
            return;
        }
        System.out.println("origin " + library.origin());
        System.out.println("version " + library.version());
        System.out.println("path " + library.path());
        System.out.println("same " + (library == UcxLibrary.load()));
        for (String action : wanted) {
            switch (action) {
                case "signals" -> System.out.println("signals " + signalHandlers().equals(signalsBefore));
                case "mmap" -> System.out.println("mmap " + startOfMmap().equals(mmapBefore));
                case "exceptions" -> System.out.println("exceptions " + throwFromSignals());
                case "environment" -> printEnvironment();
                case "rendezvous" -> print("UCX_RNDV_THRESH");
                case "copy" -> System.out.println("copy " + ofAnotherCopy());
                case "symbols" -> System.out.println("symbols " + symbols(library));
                case "shm" -> System.out.println("shm " + sharedMemory());
                case "maps" -> System.out.println("maps " + Files.readAllLines(Path.of("/proc/self/maps")));
                case "virtual" -> { }
                default -> throw new IllegalArgumentException(action);
            }
        }
    }

    private static UcxLibrary loadOnVirtualThread() throws InterruptedException {
        AtomicReference<UcxLibrary> loaded = new AtomicReference<>();
        Thread.ofVirtual().start(() -> loaded.set(UcxLibrary.load())).join();
        return loaded.get();
    }

    /** What the same classes load in a class loader of their own, as an agent has them. */
    private static String ofAnotherCopy() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            Class<?> copy = loader.loadClass(UcxLibrary.class.getName());
            if (copy == UcxLibrary.class) {
                throw new AssertionError("it is the same one");
            }
            return copy.getMethod("load").invoke(null).toString();
        }
    }

    /** It is believed for a second that there is none. */
    private static UcxLibrary loadLater() throws InterruptedException {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (true) {
            try {
                return UcxLibrary.load();
            } catch (UnsatisfiedLinkError e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                // Nothing tells when it is looked for again.
                Thread.sleep(100);
            }
        }
    }

    private static void loadAgain(UnsatisfiedLinkError first) {
        try {
            UcxLibrary.load();
            System.out.println("again loaded");
        } catch (UnsatisfiedLinkError second) {
            System.out.println("again " + (second != first && second.getMessage().equals(first.getMessage())));
        }
    }

    /** The address of every signal's handler: the first field of {@code struct sigaction}. */
    private static List<Long> signalHandlers() throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle sigaction = linker.downcallHandle(linker.defaultLookup().find("sigaction").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        List<Long> handlers = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment action = arena.allocate(256, 8);
            for (int signal = 1; signal < 32; signal++) {
                int result = (int) sigaction.invokeExact(signal, MemorySegment.NULL, action);
                handlers.add(result == 0 ? action.get(ValueLayout.JAVA_LONG, 0) : -1);
            }
        }
        return handlers;
    }

    /** The code that mmap starts with, which UCX overwrites when it hooks it. */
    private static String startOfMmap() {
        MemorySegment mmap = Linker.nativeLinker().defaultLookup().find("mmap").orElseThrow();
        return HexFormat.of().formatHex(mmap.reinterpret(16).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Compiled code leaves null checks, and every thread its stack's end, to SIGSEGV. */
    private static boolean throwFromSignals() {
        int[] array = new int[1];
        int sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += first(array);
        }
        try {
            first(null);
            return false;
        } catch (NullPointerException expected) {
            // By way of a signal that UCX must leave to the JVM.
        }
        try {
            return recurse(sum) == 0;
        } catch (StackOverflowError expected) {
            return true;
        }
    }

    private static int first(int[] array) {
        return array[0];
    }

    private static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }

    private static void printEnvironment() {
        for (UcxEnvironment.Setting setting : UcxEnvironment.settings(UcxLibrary.load().version())) {
            print(setting.name());
        }
    }

    private static void print(String variable) {
        System.out.println(variable + " [" + Libc.getenv(variable) + "]");
    }

    /** The transports of an endpoint that is to tell of its peer's failure. */
    private static List<String> sharedMemory() throws Exception {
        UcpContext context = SharedContexts.get("test", Map.of("TLS", "shm"), UcpFeature.TAG, UcpFeature.WAKEUP);
        try (UcpWorker worker = context.createWorker(new UcpWorkerParams());
             UcpWorker peer = context.createWorker(new UcpWorkerParams())) {
            UcpEndpoint endpoint = worker.connect(peer.queryAddress(), (failed, status) -> { });
            List<String> names = endpoint.transports().stream().map(UcpEndpoint.Transport::name).toList();
            endpoint.closeNbx(true);
            return names;
        }
    }

    private static boolean symbols(UcxLibrary library) throws Throwable {
        MemorySegment statusString = library.symbols().find("ucs_status_string").orElseThrow();
        MemorySegment text = (MemorySegment) Linker.nativeLinker().downcallHandle(statusString,
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_BYTE)).invokeExact((byte) 0);
        return library.symbols().find("ucp_init_version").isPresent()
                && library.symbols().find("ucp_no_such_function").isEmpty()
                && text.reinterpret(64).getString(0).equals("Success");
    }
}
