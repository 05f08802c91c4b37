// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * UCX's libraries inside the process: which are there, and opening them.
 *
 * <p>As all that is called while a first connection waits, it has few lambdas: the virtual machine makes a class for each.
 */
final class LoadedUcx {
    /** A function of libucp, and one of each UCX library that it needs. */
    private static final List<String> ONE_SYMBOL_OF_EACH =
            List.of("ucp_get_version", "uct_query_components", "ucs_status_string", "ucm_set_event_handler");

    private LoadedUcx() {
    }

    /** The libucp that is in the process already, whoever loaded it, or the one beside a libucs that is. */
    static Optional<Path> path() {
        Optional<Path> libucp = loadedFile(SystemPlaces.SONAME, "ucp_get_version");
        if (libucp.isPresent()) {
            return libucp;
        }
        Optional<Path> libucs = loadedFile("libucs.so.0", "ucs_status_string");
        return libucs.isEmpty() ? libucs : Optional.of(ucpBeside(libucs.get()));
    }

    /**
     * Loads a libucp, and with it the other UCX libraries of its installation.
     *
     * @param version if it could be told from the file
     * @throws LibraryRejected when that fails; then nothing of it stays in the process, or the message says so
     */
    static UcxLibrary open(Path library, Optional<UcxVersion> version, String origin) throws LibraryRejected {
        ConfigurationFiles.requireTrusted(library);
        Map<String, String> before = UcxEnvironment.apply(version.orElse(UcxVersion.MINIMUM), library);
        // Before it is loaded: whoever finds it in the process then finds the property as well.
        System.setProperty(UcxLibrary.LOADED_PROPERTY, library.toString());
        try {
            return openHere(library, origin);
        } catch (LibraryRejected e) {
            System.clearProperty(UcxLibrary.LOADED_PROPERTY);
            // The next one to be tried, of another release, would take it for the user's.
            Environ.put(before);
            throw e;
        }
    }

    /**
     * Whether a libucp that is in the process was loaded by this transport, or by another copy of it in another class
     * loader, such as the agent's. System properties are what all class loaders share, and nothing of another process.
     */
    static boolean isOurs(Path present) {
        String loaded = System.getProperty(UcxLibrary.LOADED_PROPERTY);
        return loaded != null && isSame(present, Path.of(loaded));
    }

    /** Also by another name. A file that is gone is the same under the same name. */
    static boolean isSame(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException e) {
            Logs.of(LoadedUcx.class).log(Level.DEBUG, "could not compare " + one + " with " + other, e);
            return false;
        }
    }

    /** Uses a UCX that is in the process already. */
    static UcxLibrary adopt(Path library, String origin) throws LibraryRejected {
        UcxLibrary loaded = openHere(library, origin);
        UcxEnvironment.applyToLoaded(loaded.version());
        return loaded;
    }

    private static UcxLibrary openHere(Path library, String origin) throws LibraryRejected {
        return Libc.withNumericLocaleC(() -> openAll(library, origin));
    }

    private static UcxLibrary openAll(Path library, String origin) throws LibraryRejected {
        MemorySegment handle;
        try {
            handle = Libc.dlopen(library);
        } catch (LibraryRejected e) {
            throw explained(e);
        }
        try {
            requireOwnSiblings(library, handle);
            UcxVersion version = version(handle);
            LibrarySearch.requireSupported(version);
            return new UcxLibrary(handle, library, version, origin);
        } catch (LibraryRejected e) {
            Libc.dlclose(handle);
            throw path().isEmpty() ? e
                    : new LibraryRejected(e.getMessage() + " (and it stays in this process, so no other can be tried)", e);
        }
    }

    /**
     * Checks that the libraries that libucp was bound to are of the same installation. A libucp without a run path of its
     * own gets whichever libucs the linker finds first, and mixed releases crash.
     */
    private static void requireOwnSiblings(Path library, MemorySegment handle) throws LibraryRejected {
        for (String symbol : ONE_SYMBOL_OF_EACH) {
            Optional<Path> sibling = fileOf(handle, symbol);
            if (sibling.isEmpty()) {
                throw new LibraryRejected("has no " + symbol);
            }
            if (!directory(sibling.get()).equals(directory(library))) {
                throw new LibraryRejected("was bound to " + sibling.get() + " of another installation; start the JVM with"
                        + " LD_LIBRARY_PATH=" + library.getParent() + ", or name another library");
            }
        }
    }

    private static Path directory(Path library) throws LibraryRejected {
        try {
            return library.toRealPath().getParent();
        } catch (IOException e) {
            throw new LibraryRejected("cannot be resolved: " + e, e);
        }
    }

    static LibraryRejected explained(LibraryRejected e) {
        String message = e.getMessage();
        if (message.contains("failed to map segment")) {
            message += "; the file system may be mounted noexec: for the bundled UCX, set -D"
                    + UcxLibrary.WORKDIR_PROPERTY + " to a directory elsewhere";
        }
        return new LibraryRejected("cannot be loaded: " + message, e, LibraryRejected.isShortage(message));
    }

    private static UcxVersion version(MemorySegment handle) throws LibraryRejected {
        Optional<MemorySegment> function = Libc.dlsym(handle, "ucp_get_version_string");
        if (function.isEmpty()) {
            throw new LibraryRejected("has no ucp_get_version_string");
        }
        String text = Libc.stringOf(function.get());
        Optional<UcxVersion> version = UcxVersion.parse(text == null ? "" : text);
        if (version.isEmpty()) {
            throw new LibraryRejected("calls its version " + text);
        }
        return version.get();
    }

    private static Optional<Path> loadedFile(String soname, String symbol) {
        Optional<MemorySegment> handle = Libc.dlopenLoaded(soname);
        if (handle.isEmpty()) {
            return Optional.empty();
        }
        try {
            return fileOf(handle.get(), symbol);
        } finally {
            // Gives back the reference that asking took.
            Libc.dlclose(handle.get());
        }
    }

    private static Optional<Path> fileOf(MemorySegment handle, String symbol) {
        Optional<MemorySegment> found = Libc.dlsym(handle, symbol);
        return found.isEmpty() ? Optional.empty() : Libc.fileOf(found.get());
    }

    private static Path ucpBeside(Path libucs) {
        Path libucp = libucs.resolveSibling(SystemPlaces.SONAME);
        Logs.of(LoadedUcx.class).log(Level.DEBUG, "libucs is in the process without libucp: {0}", libucs);
        return libucp;
    }
}
