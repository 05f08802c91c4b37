// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Goes through the places where a UCX may be, remembers what was wrong with each, and loads the first good one. */
final class LibrarySearch {
    private final String choice;
    private final Path workdir;
    private final List<String> attempts = new ArrayList<>();

    private boolean momentary;
    private Platform platform;
    private BundledLibrary bundle;

    private LibrarySearch(String choice, Path workdir) {
        this.choice = choice;
        this.workdir = workdir;
    }

    static LibrarySearch fromSystemProperties() {
        String choice = System.getProperty(UcxLibrary.PROPERTY, "auto").strip();
        String workdir = System.getProperty(UcxLibrary.WORKDIR_PROPERTY, System.getProperty("java.io.tmpdir"));
        return new LibrarySearch(choice.isEmpty() ? "auto" : choice, Path.of(workdir).toAbsolutePath());
    }

    /** Turns whatever went wrong while loading into an error whose message a user can act on. */
    static Throwable explain(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof IllegalCallerException) {
                return new UnsatisfiedLinkError("UCX cannot be loaded, because this JVM denies native access to "
                        + describeCaller() + "; start it with --enable-native-access=" + nativeAccessTarget()
                        + " (" + t.getMessage() + ")");
            }
        }
        return failure instanceof UnsatisfiedLinkError ? failure
                : new UnsatisfiedLinkError("UCX could not be loaded: " + failure).initCause(failure);
    }

    UcxLibrary run() {
        try {
            platform = Platform.current();
            return find();
        } catch (LibraryRejected e) {
            throw new UnsatisfiedLinkError("UCX could not be loaded: " + e.getMessage());
        }
    }

    private UcxLibrary find() {
        return switch (choice) {
            case "auto" -> orFail(inProcess().or(this::systemOrBundled));
            case "system" -> orFail(inProcess().or(() -> system(systemFiles())));
            case UcxLibrary.BUNDLED -> orFail(bundled());
            default -> orFail(explicit());
        };
    }

    private UcxLibrary orFail(Optional<UcxLibrary> found) {
        return found.orElseThrow(() -> new UnsatisfiedLinkError(story()));
    }

    private Optional<UcxLibrary> inProcess() {
        Optional<Path> present = LoadedUcx.path();
        if (present.isEmpty()) {
            return Optional.empty();
        }
        Path path = present.get();
        return attempt("process", path.toString(), () -> {
            if (LoadedUcx.isOurs(path)) {
                logger().log(Level.DEBUG, "UCX was loaded from {0} by another copy of this transport", path);
            } else {
                logger().log(Level.WARNING, "UCX was loaded from " + path + " by something else in this process, so what"
                        + " it reads when it is loaded is not what this transport sets: it may handle SIGSEGV in the JVM's"
                        + " place");
            }
            return LoadedUcx.adopt(path, "process");
        });
    }

    private Optional<UcxLibrary> systemOrBundled() {
        Optional<UcxVersion> bundled = bundledVersion();
        boolean rdma = UcxEnvironment.hasRdmaDevice();
        List<LibraryFile> preferred = new ArrayList<>();
        List<LibraryFile> others = new ArrayList<>();
        for (LibraryFile file : systemFiles()) {
            UcxVersion version = file.version().orElseThrow();
            (isPreferred(version, bundled, rdma) ? preferred : others).add(file);
        }
        return system(preferred).or(() -> bundledBefore(others)).or(() -> systemWithoutBundled(others));
    }

    /**
     * Whether the machine's own goes before the bundled one. Only the machine's can have been built for its RDMA devices.
     * Where it has none, the newer release is the better one: UCX before 1.22 has no rendezvous here, for example, see
     * {@link UcxEnvironment}.
     *
     * @param bundled nothing if there is none
     * @param rdma    whether the machine has RDMA devices
     */
    static boolean isPreferred(UcxVersion system, Optional<UcxVersion> bundled, boolean rdma) {
        return rdma || bundled.isEmpty() || system.compareTo(bundled.get()) >= 0;
    }

    private Optional<UcxVersion> bundledVersion() {
        try {
            return Optional.of(bundle().version());
        } catch (LibraryRejected e) {
            momentary |= e.isMomentary();
            logger().log(Level.DEBUG, "no bundled UCX to compare others with: it {0}", e.getMessage());
            return Optional.empty();
        }
    }

    private BundledLibrary bundle() throws LibraryRejected {
        if (bundle == null) {
            bundle = BundledLibrary.find(platform, UcxLibrary.class.getClassLoader());
        }
        return bundle;
    }

    private Optional<UcxLibrary> bundledBefore(List<LibraryFile> others) {
        Optional<UcxLibrary> found = bundled();
        if (found.isPresent()) {
            others.forEach(other -> logger().log(Level.INFO, "UCX " + other.version().orElseThrow() + " from " + other.path()
                    + " is older than the bundled one, and left aside, because this machine has no RDMA devices; -D"
                    + UcxLibrary.PROPERTY + "=system has it used"));
        }
        return found;
    }

    /** An older one is better than none. */
    private Optional<UcxLibrary> systemWithoutBundled(List<LibraryFile> others) {
        if (!others.isEmpty()) {
            logger().log(Level.WARNING, "the bundled UCX cannot be used, so an older one is tried: " + attempts.getLast());
        }
        return system(others);
    }

    /** Those that can be told to be supported, best first. */
    private List<LibraryFile> systemFiles() {
        SystemPlaces places = new SystemPlaces(platform, System.getenv(), System.getProperty("java.library.path"));
        List<Path> libraries = places.libraries();
        if (libraries.isEmpty()) {
            attempts.add("system: no " + SystemPlaces.SONAME + " in the dynamic linker's search path, in $LD_LIBRARY_PATH,"
                    + " $HPCX_UCX_DIR/lib, $UCX_HOME/lib, java.library.path, or in any of "
                    + String.join(", ", places.wellKnownDirectories()));
        }
        List<LibraryFile> files = new ArrayList<>();
        for (Path library : libraries) {
            attempt("system", library.toString(), () -> {
                LibraryFile file = LibraryFile.read(library, platform);
                requireSupported(file.version().orElseThrow(() -> new LibraryRejected(
                        "its version cannot be told from the file; name it by -D" + UcxLibrary.PROPERTY + " to use it")));
                return file;
            }).ifPresent(files::add);
        }
        return files;
    }

    private Optional<UcxLibrary> system(List<LibraryFile> files) {
        if (LoadedUcx.path().isPresent()) {
            return Optional.empty();
        }
        for (LibraryFile file : files) {
            Optional<UcxLibrary> found = attempt("system", file.path().toString(),
                    () -> LoadedUcx.open(file.path(), file.version(), "system"));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private Optional<UcxLibrary> bundled() {
        return attempt(UcxLibrary.BUNDLED, "the UCX of " + BundledLibrary.ARTIFACT, () -> {
            Path library = bundle().extract(workdir);
            return openOnly(library, Optional.of(bundle().version()), UcxLibrary.BUNDLED);
        });
    }

    private Optional<UcxLibrary> explicit() {
        return attempt("explicit", choice, () -> {
            Path library = explicitPath();
            Optional<UcxVersion> version = LibraryFile.read(library, platform).version();
            if (version.isPresent()) {
                requireSupported(version.get());
            }
            return openOnly(library, version, "explicit");
        });
    }

    private Path explicitPath() throws LibraryRejected {
        Path path;
        try {
            path = Path.of(choice);
        } catch (InvalidPathException e) {
            throw new LibraryRejected("is not a path", e);
        }
        if (!path.isAbsolute()) {
            throw new LibraryRejected("is neither auto, system or bundled, nor an absolute path");
        }
        if (!Files.isDirectory(path)) {
            return path;
        }
        Path library = path.resolve(SystemPlaces.SONAME);
        if (!Files.exists(library)) {
            throw new LibraryRejected("is a directory without a " + SystemPlaces.SONAME);
        }
        return library;
    }

    /** Opens this file, and no other that happens to be in the process in its place. */
    private static UcxLibrary openOnly(Path library, Optional<UcxVersion> version, String origin)
            throws LibraryRejected {
        Optional<Path> present = LoadedUcx.path();
        if (present.isEmpty()) {
            return LoadedUcx.open(library, version, origin);
        }
        if (LoadedUcx.isSame(present.get(), library)) {
            return LoadedUcx.adopt(library, origin);
        }
        throw new LibraryRejected("cannot be loaded, because another UCX is in this process already: " + present.get());
    }

    static void requireSupported(UcxVersion version) throws LibraryRejected {
        if (!version.isSupported()) {
            throw new LibraryRejected("is UCX " + version + ", which is too old; " + UcxVersion.MINIMUM
                    + " or later is needed");
        }
    }

    private interface Attempt<T> {
        T run() throws LibraryRejected;
    }

    private <T> Optional<T> attempt(String origin, String place, Attempt<T> attempt) {
        try {
            return Optional.of(attempt.run());
        } catch (LibraryRejected e) {
            attempts.add(origin + ": " + place + " " + e.getMessage());
            momentary |= e.isMomentary();
            logger().log(Level.DEBUG, "{0}: {1} {2}", origin, place, e.getMessage());
            return Optional.empty();
        }
    }

    /** Whether something that was tried in vain may be of use in a moment. */
    boolean isMomentary() {
        return momentary;
    }

    private String story() {
        StringBuilder story = new StringBuilder("UCX could not be loaded (").append(UcxLibrary.PROPERTY).append('=')
                .append(choice).append(", ").append(platform).append("). Tried:");
        attempts.forEach(attempt -> story.append("\n  ").append(attempt));
        return story.append("\nTo mend it, do one of these:")
                .append("\n  add ").append(BundledLibrary.ARTIFACT).append(" with the classifier ")
                .append(platform.classifier()).append(" to the class path, which brings a UCX for shared memory and TCP")
                .append("\n  install UCX ").append(UcxVersion.MINIMUM).append(" or later (package libucx0 or ucx, "
                        + "MLNX_OFED, DOCA, or HPC-X), which RDMA needs")
                .append("\n  set -D").append(UcxLibrary.PROPERTY)
                .append("=auto, system, bundled, or the absolute path of a libucp.so or of its directory")
                .toString();
    }

    private static String describeCaller() {
        Module module = LibrarySearch.class.getModule();
        return module.isNamed() ? "module " + module.getName() : "code on the class path";
    }

    private static String nativeAccessTarget() {
        Module module = LibrarySearch.class.getModule();
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }

    private static System.Logger logger() {
        return Logs.of(LibrarySearch.class);
    }
}
