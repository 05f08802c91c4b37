// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExtractionDirectoryTest {
    private static final byte[] UCP = "the contents of libucp".getBytes();
    private static final byte[] CMA = "the contents of the cma module".getBytes();

    @TempDir
    Path temporary;
    private Path jar;
    private Path work;

    @BeforeEach
    void makeBundle() throws Exception {
        work = temporary.resolve("work");
        jar = temporary.resolve("jar");
        Path index = jar.resolve("META-INF/native/" + Platform.current().classifier() + "/ucx");
        Files.createDirectories(index.resolve("1.22.0/ucx"));
        Files.write(index.resolve("1.22.0/libucp.so.0"), UCP);
        Files.write(index.resolve("1.22.0/ucx/libuct_cma.so.0"), CMA);
        writeIndex(line(UCP, "1.22.0/libucp.so.0"), line(CMA, "1.22.0/ucx/libuct_cma.so.0"));
    }

    private void writeIndex(String... lines) throws Exception {
        Files.write(jar.resolve("META-INF/native/" + Platform.current().classifier() + "/ucx/SHA256SUMS"), List.of(lines));
    }

    private static String line(byte[] contents, String name) {
        return HexFormat.of().formatHex(Sha256.digest(contents)) + "  " + name;
    }

    private BundledLibrary find() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            return BundledLibrary.find(Platform.current(), loader);
        }
    }

    private Path extract() throws Exception {
        return find().extract(work).getParent();
    }

    private static void assertComplete(Path directory) throws IOException {
        assertArrayEquals(UCP, Files.readAllBytes(directory.resolve("libucp.so.0")));
        assertArrayEquals(CMA, Files.readAllBytes(directory.resolve("ucx/libuct_cma.so.0")));
        assertEquals(2, TestUcx.list(directory).size(), "nothing unfinished is left behind");
        assertEquals(1, TestUcx.list(directory.resolve("ucx")).size());
    }

    @Test
    void extractsOnceForAllProcesses() throws Exception {
        Path first = extract();
        assertComplete(first);
        Object inode = Files.getAttribute(first.resolve("libucp.so.0"), "unix:ino");
        assertEquals(first, extract());
        assertEquals(inode, Files.getAttribute(first.resolve("libucp.so.0"), "unix:ino"), "written a second time");
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(first)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(first.getParent())));
    }

    @Test
    void replacesWhatIsDamagedMissingOrALink() throws Exception {
        Path directory = extract();
        Files.writeString(directory.resolve("libucp.so.0"), "something else");
        Files.delete(directory.resolve("ucx/libuct_cma.so.0"));
        assertComplete(extract());

        Path elsewhere = Files.write(temporary.resolve("elsewhere"), UCP);
        Files.delete(directory.resolve("libucp.so.0"));
        Files.createSymbolicLink(directory.resolve("libucp.so.0"), elsewhere);
        assertComplete(extract());
        assertFalse(Files.isSymbolicLink(directory.resolve("libucp.so.0")));

        Files.setPosixFilePermissions(directory.resolve("libucp.so.0"), PosixFilePermissions.fromString("rw-rw-rw-"));
        assertComplete(extract());
        assertEquals("rwx------",
                PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("libucp.so.0"))));
    }

    private static Path note(Path directory) {
        return directory.resolveSibling(directory.getFileName() + ".verified");
    }

    /** Younger files are not noted, see {@link VerifiedFiles}. */
    private static void awaitSettled(Path... files) throws Exception {
        for (Path file : files) {
            FileTime changed = (FileTime) Files.getAttribute(file, "unix:ctime");
            // The file's age is the condition.
            Thread.sleep(Math.max(0, changed.toMillis() + 2100 - System.currentTimeMillis()));
        }
    }

    @Test
    void notesNothingAboutFilesThatHaveJustBeenWritten() throws Exception {
        extract();
        Path library = extract().resolve("libucp.so.0");
        long changed = ((FileTime) Files.getAttribute(library, "unix:ctime")).toMillis();
        boolean noted = Files.exists(note(library.getParent()));
        // They are old enough where this thread has stood still.
        assertTrue(!noted || System.currentTimeMillis() > changed + 2000);

        Path note = library.resolveSibling("note");
        String state = VerifiedFiles.state(library, find().entries().getFirst());
        VerifiedFiles verified = VerifiedFiles.read(note);
        verified.add(state, library, changed + 2000);
        verified.save();
        assertFalse(Files.exists(note));
        verified.add(state, library, changed + 2001);
        verified.save();
        assertEquals(List.of(state), Files.readAllLines(note));
    }

    @Test
    void comparesAFileAgainOnlyAfterAChange() throws Exception {
        Path library = extract().resolve("libucp.so.0");
        FileTime written = Files.getLastModifiedTime(library);
        awaitSettled(library, library.resolveSibling("ucx/libuct_cma.so.0"));
        assertEquals(2, Files.readAllLines(note(extract())).size());

        // A change that keeps the length and pretends to have been made at the same time.
        byte[] damaged = UCP.clone();
        damaged[0]++;
        Files.write(library, damaged);
        Files.setLastModifiedTime(library, written);
        assertComplete(extract());
    }

    @Test
    void believesTheNote() throws Exception {
        Path library = extract().resolve("libucp.so.0");
        Files.writeString(library, "not compared");
        BundledLibrary.Entry entry = find().entries().getFirst();
        Files.writeString(note(library.getParent()), VerifiedFiles.state(library, entry) + "\n");
        extract();
        assertEquals("not compared", Files.readString(library), "compared although the note vouches for it");
    }

    @Test
    void doesNotDisturbAProcessThatHasTheDamagedFileOpen() throws Exception {
        Path library = extract().resolve("libucp.so.0");
        Files.writeString(library, "something else");
        try (var open = Files.newInputStream(library)) {
            extract();
            assertEquals("something else", new String(open.readAllBytes()));
        }
    }

    @Test
    void usesNoDirectoryThatOthersCanWriteTo() throws Exception {
        Path shared = extract().getParent();
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path directory = extract();
        assertNotEquals(shared, directory.getParent());
        assertComplete(directory);
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)));
    }

    @Test
    void usesNoLinkInPlaceOfTheDirectory() throws Exception {
        Path shared = extract().getParent();
        Path moved = Files.move(shared, temporary.resolve("moved"));
        Files.createSymbolicLink(shared, moved);
        Path directory = extract();
        assertFalse(directory.startsWith(shared), directory.toString());
        assertComplete(directory);
    }

    @Test
    void deletesADirectoryOfOneProcessAtItsEnd() throws Exception {
        Files.createDirectories(work);
        Path blocked = Files.createFile(work.resolve("netty-ucx-" + Integer.toUnsignedString(Libc.geteuid())));
        ChildJvm.Result result = new ChildJvm().library("bundled").classPath(TestUcx.classPathEntry())
                .property(UcxLibrary.WORKDIR_PROPERTY, work).run();
        assertEquals("bundled", result.line("origin"), result.output());
        assertTrue(result.output().contains("for this process alone"), result.output());
        assertEquals(List.of(blocked), TestUcx.list(work));
    }

    @Test
    void givesAnotherBuildOfTheSameVersionItsOwnDirectory() throws Exception {
        Path directory = extract();
        Path index = jar.resolve("META-INF/native/" + Platform.current().classifier() + "/ucx");
        byte[] rebuilt = "another build of libucp".getBytes();
        Files.write(index.resolve("1.22.0/libucp.so.0"), rebuilt);
        writeIndex(line(rebuilt, "1.22.0/libucp.so.0"), line(CMA, "1.22.0/ucx/libuct_cma.so.0"));
        assertNotEquals(directory, extract());
        assertComplete(directory);
    }

    @Test
    void refusesABundleThatDiffersFromItsIndex() throws Exception {
        writeIndex(line(CMA, "1.22.0/libucp.so.0"));
        String message = assertThrows(LibraryRejected.class, this::extract).getMessage();
        assertTrue(message.contains("is damaged"), message);
    }

    @Test
    void refusesAnIndexThatLeadsElsewhere() throws Exception {
        for (String name : List.of("1.22.0/../../evil.so", "1.22.0/sub/libucp.so.0", "/libucp.so.0")) {
            writeIndex(line(UCP, name));
            assertTrue(assertThrows(LibraryRejected.class, this::find).getMessage().contains(name));
        }
        writeIndex();
        assertTrue(assertThrows(LibraryRejected.class, this::find).getMessage().contains("is empty"));
    }

    @Test
    void refusesABundleThatLacksAFileOfItsIndex() throws Exception {
        writeIndex(line(UCP, "1.22.0/libucp.so.0"), line(UCP, "1.22.0/missing.so"));
        String message = assertThrows(LibraryRejected.class, this::extract).getMessage();
        assertTrue(message.contains("is incomplete") && message.contains("1.22.0/missing.so"), message);
    }

    @Test
    void survivesManyProcessesAtOnceOverADamagedDirectory() throws Exception {
        ChildJvm jvm = new ChildJvm().library("bundled").classPath(TestUcx.classPathEntry())
                .property(UcxLibrary.WORKDIR_PROPERTY, work);
        Path library = Path.of(jvm.run().line("path"));
        byte[] good = Files.readAllBytes(library);
        Files.write(library, new byte[good.length]);
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            processes.add(jvm.start());
        }
        for (Process process : processes) {
            ChildJvm.Result result = ChildJvm.finish(process);
            assertEquals(0, result.exitCode(), result.output());
            assertEquals(library.toString(), result.line("path"));
        }
        assertArrayEquals(good, Files.readAllBytes(library));
        assertEquals(5, TestUcx.list(library.getParent()).size(), "nothing unfinished is left behind");
    }

    /** As a cleaner of old temporary files may: a process that ends is not to end with an exception. */
    @Test
    void whatOthersDeleteMeanwhileIsNotMissed() throws Exception {
        Path directory = Files.createDirectory(temporary.resolve("own"));
        AtomicBoolean stop = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                for (int i = 0; i < 100; i++) {
                    directory.resolve(i + "/ucx").toFile().mkdirs();
                }
                for (int i = 0; i < 100; i++) {
                    directory.resolve(i + "/ucx").toFile().delete();
                    directory.resolve(Integer.toString(i)).toFile().delete();
                }
            }
        });
        try {
            for (int i = 0; i < 100; i++) {
                ExtractionDirectory.delete(directory);
            }
        } finally {
            stop.set(true);
            other.join();
        }
        ExtractionDirectory.delete(directory);
        assertFalse(Files.exists(directory));
    }
}
