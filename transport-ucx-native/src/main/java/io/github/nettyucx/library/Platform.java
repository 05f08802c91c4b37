// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The machine that the JVM runs on.
 *
 * @param classifier what the jar with the libraries for it is called, such as {@code linux-x86_64}
 * @param elfMachine machine number in the header of its shared libraries
 * @param triplet    directory name that Debian and its relatives use for it
 */
record Platform(String classifier, int elfMachine, String triplet) {
    private static final Platform X86_64 = new Platform("linux-x86_64", 62, "x86_64-linux-gnu");
    private static final Platform AARCH_64 = new Platform("linux-aarch_64", 183, "aarch64-linux-gnu");
    private static final List<Platform> ALL = List.of(X86_64, AARCH_64);

    /** Finds the platform by {@code os.name} and {@code os.arch}. */
    static Platform of(String osName, String osArch) throws LibraryRejected {
        if (!osName.toLowerCase(Locale.ROOT).startsWith("linux")) {
            throw new LibraryRejected("UCX exists for Linux only, and this is " + osName
                    + "; use another Netty transport here");
        }
        return switch (osArch) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64" -> AARCH_64;
            default -> throw new LibraryRejected("this transport supports 64-bit x86 and ARM (os.arch amd64 or aarch64), "
                    + "and this JVM says " + osArch);
        };
    }

    static Platform current() throws LibraryRejected {
        return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static String describeElf(boolean is64Bit, int machine) {
        Optional<Platform> known = ALL.stream().filter(p -> is64Bit && p.elfMachine == machine).findFirst();
        return known.map(Platform::classifier).orElse((is64Bit ? "64" : "32") + "-bit ELF machine " + machine);
    }

    @Override
    public String toString() {
        return classifier;
    }
}
