// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever loads UCX does so in a JVM of its own. */
class UcxLibraryTest {
    @TempDir
    Path temporary;

    private ChildJvm jvm() {
        return new ChildJvm().property(UcxLibrary.WORKDIR_PROPERTY, temporary.resolve("work"));
    }

    private static void assertLoaded(ChildJvm.Result result, String origin, String version, Path path) {
        assertEquals(0, result.exitCode(), result.output());
        assertAll(
                () -> assertEquals(origin, result.line("origin")),
                () -> assertEquals(version, result.line("version")),
                () -> assertEquals(path.toString(), result.line("path")),
                () -> assertEquals("true", result.line("same")));
    }

    private static void assertFailed(ChildJvm.Result result, String... complaints) {
        assertEquals(3, result.exitCode(), result.output());
        for (String complaint : complaints) {
            assertTrue(result.line("failed").contains(complaint) || result.output().contains(complaint),
                    () -> "'" + complaint + "' is not in:\n" + result.output());
        }
    }

    @Test
    void loadsTheLibraryOfADirectory() throws Exception {
        Path directory = TestUcx.directory("1.22");
        ChildJvm.Result result = jvm().library(directory).run("symbols");
        assertLoaded(result, "explicit", "1.22.0", directory.resolve("libucp.so.0"));
        assertEquals("true", result.line("symbols"));
    }

    @Test
    void loadsALibraryByItsPath() throws Exception {
        Path library = TestUcx.directory("1.16").resolve("libucp.so.0");
        assertLoaded(jvm().library(library).run(), "explicit", "1.16.0", library);
    }

    @Test
    void loadsTheBundledLibrary() throws Exception {
        ChildJvm.Result result = jvm().library("bundled").classPath(TestUcx.classPathEntry()).run();
        assertEquals("bundled", result.line("origin"), result.output());
        assertEquals("1.22.0", result.line("version"));
        assertTrue(Path.of(result.line("path")).startsWith(temporary.resolve("work")), result.output());
    }

    @Test
    void loadsOnAVirtualThread() throws Exception {
        Path directory = TestUcx.directory("1.22");
        assertLoaded(jvm().library(directory).run("virtual"), "explicit", "1.22.0", directory.resolve("libucp.so.0"));
    }

    @Test
    void prefersTheSystemsLibraryToABundledOneThatIsNotNewer() throws Exception {
        Path directory = TestUcx.directory("1.22");
        ChildJvm.Result result = jvm().classPath(TestUcx.classPathEntry()).environment("LD_LIBRARY_PATH", directory).run();
        assertLoaded(result, "system", "1.22.0", directory.resolve("libucp.so.0"));
    }

    @Test
    void prefersTheBundledLibraryToAnOlderOneOfTheSystemAndSaysSo() throws Exception {
        assumeFalse(UcxEnvironment.hasRdmaDevice(), "this machine's own may be built for its devices");
        Path directory = TestUcx.directory("1.16");
        ChildJvm.Result result = jvm().classPath(TestUcx.classPathEntry()).environment("LD_LIBRARY_PATH", directory).run();
        assertEquals(0, result.exitCode(), result.output());
        // The bundled one, unless the machine has one besides that is as new.
        assertEquals("1.22.0", result.line("version"));
        assertTrue(result.output().contains("INFO: UCX 1.16.0 from " + directory.resolve("libucp.so.0")
                + " is older than the bundled one, and left aside"), result.output());
    }

    @Test
    void takesAnOlderLibraryOfTheSystemsWhereThereIsNoBundledOne() throws Exception {
        Path directory = TestUcx.directory("1.16");
        ChildJvm.Result result = jvm().environment("LD_LIBRARY_PATH", directory).run();
        assertLoaded(result, "system", "1.16.0", directory.resolve("libucp.so.0"));
        assertFalse(result.output().contains("left aside"), result.output());
    }

    @Test
    void takesAnOlderLibraryOfTheSystemsWhereTheBundledOneIsOfNoUseAndSaysSo() throws Exception {
        assumeFalse(UcxEnvironment.hasRdmaDevice(), "this machine's own comes first anyway");
        Path directory = TestUcx.directory("1.16");
        Path file = Files.createFile(temporary.resolve("file"));
        ChildJvm.Result result = new ChildJvm().classPath(TestUcx.classPathEntry())
                .property(UcxLibrary.WORKDIR_PROPERTY, file.resolve("below"))
                .environment("LD_LIBRARY_PATH", directory).run();
        assertLoaded(result, "system", "1.16.0", directory.resolve("libucp.so.0"));
        assertTrue(result.output().contains("WARNING: the bundled UCX cannot be used, so an older one is tried: bundled:"),
                result.output());
    }

    @Test
    void prefersTheMachinesOwnWhereItHasRdmaDevicesWhateverTheRelease() {
        UcxVersion older = UcxVersion.MINIMUM;
        UcxVersion bundled = new UcxVersion(1, 22, 0);
        UcxVersion newer = new UcxVersion(1, 22, 1);
        assertTrue(LibrarySearch.isPreferred(older, Optional.of(bundled), true));
        assertFalse(LibrarySearch.isPreferred(older, Optional.of(bundled), false));
        assertTrue(LibrarySearch.isPreferred(newer, Optional.of(bundled), false));
        assertTrue(LibrarySearch.isPreferred(older, Optional.empty(), false));
    }

    @Test
    void findsTheSystemsLibraryThroughTheVariableOfHpcX() throws Exception {
        TestUcx.copy(temporary.resolve("hpcx/lib"));
        ChildJvm.Result result = jvm().library("system").environment("HPCX_UCX_DIR", temporary.resolve("hpcx")).run();
        assertLoaded(result, "system", "1.16.0", temporary.resolve("hpcx/lib/libucp.so.0"));
    }

    @Test
    void passesOverASystemsLibraryThatIsTooOld() throws Exception {
        Path old = TestUcx.disguised(temporary.resolve("old"), "1.13.1");
        ChildJvm.Result result = jvm().classPath(TestUcx.classPathEntry()).library("auto")
                .environment("LD_LIBRARY_PATH", old).run();
        // The bundled one, unless the machine has a good one besides.
        assertEquals(0, result.exitCode(), result.output());
        assertFalse(result.line("path").startsWith(old.toString()), result.output());
    }

    @Test
    void takesTheNextSystemsLibraryAfterOneThatIsTooOld() throws Exception {
        Path old = TestUcx.disguised(temporary.resolve("old"), "1.13.1");
        Path directory = TestUcx.directory("1.22");
        ChildJvm.Result result = jvm().library("system").environment("LD_LIBRARY_PATH", old + ":" + directory).run();
        assertLoaded(result, "system", "1.22.0", directory.resolve("libucp.so.0"));
    }

    @Test
    void passesOverASystemsLibraryThatCannotBeLoaded() throws Exception {
        Path incomplete = TestUcx.copy(temporary.resolve("incomplete"), "libucp.so.0");
        ChildJvm.Result result = jvm().classPath(TestUcx.classPathEntry()).property("java.library.path", incomplete).run();
        assertEquals(0, result.exitCode(), result.output());
        assertFalse(result.line("path").startsWith(incomplete.toString()), result.output());
    }

    @Test
    void refusesAnExplicitLibraryThatIsTooOld() throws Exception {
        Path old = TestUcx.disguised(temporary.resolve("old"), "1.15.9");
        assertFailed(jvm().library(old).run(), old.toString(), "is UCX 1.15.9, which is too old; 1.16.0 or later");
    }

    @Test
    void asksALoadedLibraryForTheVersionThatItsFileDoesNotShow() throws Exception {
        Path odd = TestUcx.disguised(temporary.resolve("odd"), "1.15..");
        ChildJvm.Result closed = jvm().library(odd).run();
        assertFailed(closed, "calls its version 1.15..");
        assertFalse(closed.output().contains("stays in this process"), closed.output());
        ChildJvm.Result stuck = jvm().library(odd).environment("LD_PRELOAD", odd.resolve("libucp.so.0"))
                .environment("LD_LIBRARY_PATH", odd).run();
        assertFailed(stuck, "calls its version 1.15.. (and it stays in this process");
    }

    @Test
    void saysWhatIsWrongWithAPath() throws Exception {
        Path text = Files.writeString(temporary.resolve("text.so"), "not a library");
        assertAll(
                () -> assertFailed(jvm().library("/no/such/file.so").run(), "/no/such/file.so does not exist"),
                () -> assertFailed(jvm().library(text).run(), text + " is not a shared library"),
                () -> assertFailed(jvm().library(temporary).run(), "is a directory without a libucp.so.0"));
    }

    @Test
    void saysWhatIsWrongWithThePropertyAndFailsTheSameWayAgain() throws Exception {
        ChildJvm.Result result = jvm().library("bundeld").run("again");
        assertFailed(result, "bundeld is neither auto, system or bundled, nor an absolute path");
        assertEquals("true", result.line("again"));
    }

    @Test
    void tellsTheWholeStoryWhenThereIsNone() throws Exception {
        ChildJvm.Result result = jvm().library("bundled").run();
        assertFailed(result, "io.github.nettyucx.library=bundled", "not on the class path",
                "io.github.netty-ucx:netty-transport-native-ucx", "classifier " + Platform.current().classifier(),
                "install UCX 1.16.0 or later", "-Dio.github.nettyucx.library=");
    }

    @Test
    void refusesALibraryThatWasBoundToAnotherInstallation() throws Exception {
        Path lone = TestUcx.copy(temporary.resolve("lone"), "libucp.so.0");
        Path others = TestUcx.copy(temporary.resolve("others"), "libuct.so.0", "libucs.so.0", "libucm.so.0");
        ChildJvm.Result result = jvm().library(lone).environment("LD_LIBRARY_PATH", others).run();
        assertFailed(result, "was bound to " + others.resolve("libuct.so.0") + " of another installation",
                "LD_LIBRARY_PATH=" + lone);
    }

    @Test
    void adoptsALibraryThatIsInTheProcessAlready() throws Exception {
        Path library = TestUcx.directory("1.16").resolve("libucp.so.0");
        ChildJvm.Result result = jvm().classPath(TestUcx.classPathEntry()).environment("LD_PRELOAD", library).run();
        assertLoaded(result, "process", "1.16.0", library);
        assertTrue(result.output().contains("was loaded from " + library + " by something else"), result.output());
    }

    /** The agent has a copy, and so may the application have one. */
    @Test
    void knowsWhatAnotherCopyOfThisTransportHasLoaded() throws Exception {
        Path directory = TestUcx.directory("1.22");
        assertKnown(jvm().environment("LD_LIBRARY_PATH", directory), "process");
        assertKnown(jvm().library("system").environment("LD_LIBRARY_PATH", directory), "process");
        assertKnown(jvm().library("bundled").classPath(TestUcx.classPathEntry()), "bundled");
        assertKnown(jvm().library(directory), "explicit");
    }

    private static void assertKnown(ChildJvm jvm, String origin) throws Exception {
        ChildJvm.Result result = jvm.run("copy");
        assertEquals("UCX 1.22.0 (" + origin + ") from " + result.line("path"), result.line("copy"), result.output());
        assertFalse(result.output().contains("WARNING"), result.output());
    }

    /** The first copy has warned, and the second one has the same to say. */
    @Test
    void takesNothingForItsOwnThatACopyHasOnlyFound() throws Exception {
        Path library = TestUcx.directory("1.22").resolve("libucp.so.0");
        ChildJvm.Result result = jvm().environment("LD_PRELOAD", library).run("copy");
        assertEquals("process", result.line("origin"), result.output());
        assertEquals(2, result.output().lines().filter(line -> line.contains("by something else")).count(), result.output());
    }

    /** Nor what a copy was told to load, and could not. */
    @Test
    void takesNothingForItsOwnThatCouldNotBeLoaded() throws Exception {
        Path odd = TestUcx.disguised(temporary.resolve("odd"), "1.15..");
        ChildJvm.Result result = jvm().library(odd).run("property");
        assertFailed(result, "calls its version 1.15..");
        assertEquals("null", result.line("property"), result.output());
    }

    @Test
    void doesNotLoadASecondCopyBesideOneThatIsInTheProcessAlready() throws Exception {
        Path preloaded = TestUcx.directory("1.16").resolve("libucp.so.0");
        Path wanted = TestUcx.directory("1.22").resolve("libucp.so.0");
        assertAll(
                () -> assertFailed(jvm().library(wanted).environment("LD_PRELOAD", preloaded).run(),
                        "another UCX is in this process already: " + preloaded),
                () -> assertLoaded(jvm().library(wanted).environment("LD_PRELOAD", wanted).run(),
                        "explicit", "1.22.0", wanted));
    }

    @Test
    void saysThatNativeAccessIsDenied() throws Exception {
        ChildJvm.Result result = jvm().withoutNativeAccess().option("--illegal-native-access=deny").run("again");
        assertFailed(result, "denies native access", "--enable-native-access=ALL-UNNAMED");
        assertEquals("true", result.line("again"));
    }

    @Test
    void saysThatAnotherSystemIsNotSupported() throws Exception {
        assertAll(
                () -> assertFailed(jvm().property("os.name", "Windows 11").run(), "UCX exists for Linux only", "Windows 11"),
                () -> assertFailed(jvm().property("os.arch", "riscv64").run(), "os.arch amd64 or aarch64", "riscv64"));
    }

    @Test
    void leavesTheJvmsSignalsAndLibcsFunctionsAlone() throws Exception {
        for (String release : new String[] {"1.16", "1.22"}) {
            ChildJvm.Result result = jvm().library(TestUcx.directory(release)).option("-Xbatch")
                    .run("signals", "mmap", "exceptions");
            assertEquals("true", result.line("signals"), result.output());
            assertEquals("true", result.line("mmap"), result.output());
            assertEquals("true", result.line("exceptions"), result.output());
        }
    }

    @Test
    void setsTheEnvironmentButKeepsWhatTheUserHasSet() throws Exception {
        ChildJvm.Result result = jvm().library(TestUcx.directory("1.22"))
                .environment("UCX_VFS_ENABLE", "y").environment("UCX_ASYNC_MAX_EVENTS", "77").run("environment");
        assertEquals("[y]", result.line("UCX_VFS_ENABLE"));
        assertEquals("[77]", result.line("UCX_ASYNC_MAX_EVENTS"));
        assertEquals("[none]", result.line("UCX_HANDLE_ERRORS"));
        assertEquals("[]", result.line("UCX_ERROR_SIGNALS"));
        assertEquals("[0]", result.line("UCX_DEBUG_SIGNO"));
        assertFalse(result.output().contains("unused environment variable"), result.output());
    }

    @Test
    void overridesWhatTheUserHasSetAndSaysSoWhereTheProcessWouldCrashOtherwise() throws Exception {
        ChildJvm.Result result = jvm().library(TestUcx.directory("1.16"))
                .environment("UCX_MEM_EVENTS", "y").environment("UCX_RNDV_THRESH", "8k").run("environment", "mmap");
        assertEquals("[n]", result.line("UCX_MEM_EVENTS"));
        assertEquals("[inf]", result.line("UCX_RNDV_THRESH"));
        assertEquals("true", result.line("mmap"), result.output());
        assertTrue(result.output().contains("UCX_MEM_EVENTS=y is overridden by UCX_MEM_EVENTS=n: with UCX's regist"),
                result.output());
        assertTrue(result.output().contains("UCX_RNDV_THRESH=8k is overridden by UCX_RNDV_THRESH=inf: UCX before 1.22"),
                result.output());
    }

    @Test
    void keepsTheUsersRendezvousWhereItIsSafe() throws Exception {
        ChildJvm.Result result = jvm().library(TestUcx.directory("1.22"))
                .environment("UCX_MEM_EVENTS", "no").environment("UCX_RNDV_THRESH", "8k")
                .run("environment", "rendezvous");
        assertEquals("[n]", result.line("UCX_MEM_EVENTS"));
        assertEquals("[8k]", result.line("UCX_RNDV_THRESH"));
        assertFalse(result.output().contains("is overridden"), result.output());
    }

    @Test
    void forbidsTheRendezvousToAUcxThatWasLoadedWithMemoryEvents() throws Exception {
        Path library = TestUcx.directory("1.22").resolve("libucp.so.0");
        ChildJvm.Result with = jvm().library(library).environment("LD_PRELOAD", library).run("rendezvous");
        assertEquals("[inf]", with.line("UCX_RNDV_THRESH"), with.output());
        assertTrue(with.output().contains("UCX was loaded without UCX_MEM_EVENTS=n"), with.output());
        ChildJvm.Result without = jvm().library(library).environment("LD_PRELOAD", library)
                .environment("UCX_MEM_EVENTS", "n").run("rendezvous");
        assertEquals("[null]", without.line("UCX_RNDV_THRESH"), without.output());
        assertFalse(without.output().contains("UCX was loaded without"), without.output());
    }

    /** What UCX reads for each context is not too late. */
    @Test
    void aUcxThatSomethingElseHasLoadedHasSharedMemory() throws Exception {
        Path library = TestUcx.directory("1.22").resolve("libucp.so.0");
        ChildJvm.Result result = jvm().library(library).environment("LD_PRELOAD", library)
                .environment("UCX_MM_RX_BUFS_GROW", "300").run("environment", "shm");
        assertTrue(result.line("shm").matches("\\[(sysv|posix).*"), result.output());
        assertEquals("[y]", result.line("UCX_MM_ERROR_HANDLING"), result.output());
        assertEquals("[md]", result.line("UCX_MM_ALLOC"), result.output());
        assertEquals("[300]", result.line("UCX_MM_RX_BUFS_GROW"), result.output());
        assertEquals("[null]", result.line("UCX_ASYNC_MAX_EVENTS"), "it would be read by nobody: " + result.output());
    }

    @Test
    void failsReadablyWhenTheWorkDirectoryCannotBeMade() throws IOException, InterruptedException {
        Path file = Files.createFile(temporary.resolve("file"));
        ChildJvm.Result result = new ChildJvm().library("bundled").classPath(TestUcx.classPathEntry())
                .property(UcxLibrary.WORKDIR_PROPERTY, file.resolve("below")).run();
        assertFailed(result, "cannot be extracted below " + file.resolve("below"), UcxLibrary.WORKDIR_PROPERTY);
    }

    /** Nobody asks for UCX just once. */
    @Test
    void looksAgainWhereSomethingCouldNotBeWritten() throws Exception {
        Path file = Files.createFile(temporary.resolve("file"));
        ChildJvm.Result result = new ChildJvm().library("bundled").classPath(TestUcx.classPathEntry())
                .property(UcxLibrary.WORKDIR_PROPERTY, file.resolve("below")).property("in.the.way", file).run("mended");
        assertFailed(result, "cannot be extracted below");
        assertEquals("bundled", result.line("mended"), result.output());
    }
}
