// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nobody but this user and root tells UCX, by a file that UCX finds, what to load into the process. */
class ConfigurationFilesTest {
    private static final int SOMEBODY = 4321;

    @TempDir
    Path temporary;
    private Path elsewhere;

    @BeforeEach
    void aModuleThatIsNoPartOfTheLibrary() throws IOException {
        elsewhere = Files.createDirectory(temporary.resolve("elsewhere"));
        Files.copy(TestUcx.directory("1.22").resolve("ucx/libuct_cma.so.0"), elsewhere.resolve("libuct_other.so.0"));
    }

    private ChildJvm jvm() throws IOException {
        return new ChildJvm().library(TestUcx.directory("1.22"))
                .directory(Files.createDirectories(temporary.resolve("working")))
                .environment("HOME", Files.createDirectories(temporary.resolve("home")));
    }

    private Path file(String directory) throws IOException {
        return Files.writeString(Files.createDirectories(temporary.resolve(directory)).resolve("ucx.conf"),
                "UCX_MODULE_DIR=" + elsewhere + "\nUCX_PLUGIN_PATH=" + elsewhere + "\nUCX_LOG_LEVEL=info\n");
    }

    private static void assertRefused(ChildJvm jvm, Path file, String why) throws Exception {
        ChildJvm.Result result = jvm.run();
        assertEquals(3, result.exitCode(), result.output());
        String expected = "would take settings from " + file.toRealPath(LinkOption.NOFOLLOW_LINKS) + ", which " + why;
        assertTrue(result.output().contains(expected), result.output());
    }

    @Test
    void settingsThatEverybodyCanWriteAreRefused() throws Exception {
        for (String place : new String[] {"working", "home"}) {
            Path file = file(place);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
            assertRefused(jvm(), file, "can be written to by everybody");
            Files.delete(file);
        }
    }

    @Test
    void settingsOfSomebodyElsesAreRefused() throws Exception {
        Path file = file("working");
        give(file);
        assertRefused(jvm(), file, "belongs to another user, " + SOMEBODY);
        Files.setAttribute(file, "unix:uid", 0);
        Path link = Files.createSymbolicLink(Files.createDirectories(temporary.resolve("home")).resolve("ucx.conf"), file);
        assertEquals(0, jvm().run().exitCode());
        give(link);
        assertRefused(jvm(), link, "belongs to another user, " + SOMEBODY);
    }

    private static void give(Path file) {
        try {
            Files.setAttribute(file, "unix:uid", SOMEBODY, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            assumeTrue(false, "only root can give a file away, and not in each namespace: " + e);
        }
    }

    /** So are clusters' installations: he can do what he likes by the library. */
    @Test
    void settingsOfTheLibrarysOwnerAreTaken() throws Exception {
        Path library = TestUcx.copy(temporary.resolve("ucx/lib"));
        give(file("ucx/etc/ucx"));
        assertRefused(jvm().library(library), temporary.resolve("ucx/etc/ucx/ucx.conf"), "belongs to another user, " + SOMEBODY);
        give(library.resolve("libucp.so.0"));
        ChildJvm.Result result = jvm().library(library).run();
        assertEquals(0, result.exitCode(), result.output());
    }

    @Test
    void aHomeThatTheLocaleCannotNameIsNoObstacle() throws Exception {
        ChildJvm.Result result = jvm().environment("HOME", "/home/m\u00fcller").environment("LC_ALL", "C").run();
        assertEquals(0, result.exitCode(), result.output());
    }

    /** Below the parent of a library's directory, where others may be able to write though they cannot to the library. */
    @Test
    void settingsBesideTheLibraryAreLookedAt() throws Exception {
        Path library = TestUcx.copy(temporary.resolve("ucx/lib"));
        for (String place : new String[] {"ucx/etc", "ucx/etc/ucx"}) {
            Path file = file(place);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
            assertRefused(jvm().library(library), file, "can be written to by everybody");
            Files.delete(file);
        }
    }

    /** He has the rights already. But nothing that UCX finds by chance is to be loaded. */
    @Test
    void theUsersOwnSettingsAreTakenButForModules() throws Exception {
        file("working");
        ChildJvm.Result result = jvm().run("shm", "maps");
        assertEquals(0, result.exitCode(), result.output());
        assertTrue(result.line("maps").contains("libuct_cma.so.0"), result.output());
        assertFalse(result.line("maps").contains("libuct_other"), result.output());
        assertTrue(result.output().contains("UCX  INFO"), result.output());
    }

    /** Some installations are known by links to each of their libraries, beside which there are no modules. */
    @Test
    void modulesOfALibraryThatIsLinkedAreBesideTheFile() throws Exception {
        Path links = Files.createDirectory(temporary.resolve("links"));
        for (String name : new String[] {"libucp", "libuct", "libucs", "libucm"}) {
            Files.createSymbolicLink(links.resolve(name + ".so.0"), TestUcx.directory("1.22").resolve(name + ".so.0"));
        }
        ChildJvm.Result result = jvm().library(links).run("shm", "maps");
        assertEquals(0, result.exitCode(), result.output());
        assertTrue(result.line("maps").contains("libuct_cma.so.0"), result.output());
    }

    /** Whoever starts the JVM may say so. */
    @Test
    void modulesOfTheEnvironmentsAreLoaded() throws Exception {
        ChildJvm.Result result = jvm().environment("UCX_MODULE_DIR", elsewhere).run("shm", "maps");
        assertEquals(0, result.exitCode(), result.output());
        assertTrue(result.line("maps").contains("libuct_other"), result.output());
    }
}
