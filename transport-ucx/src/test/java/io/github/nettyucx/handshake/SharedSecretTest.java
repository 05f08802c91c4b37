// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

class SharedSecretTest {

    @TempDir
    Path directory;

    /** Test case 1 of RFC 4231. */
    @Test
    void provesByHmacSha256() {
        byte[] key = new byte[20];
        Arrays.fill(key, (byte) 0x0b);
        assertEquals("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                HandshakeFixture.hex(SharedSecret.of(key).proof("Hi ", HandshakeFixture.ascii("The"),
                        HandshakeFixture.ascii("re"))));
    }

    @Test
    void hasToHaveSixteenBytes() {
        SharedSecret.of(new byte[16]);
        SharedSecret.of(new byte[4096]);
        assertEquals("a shared secret of 15 bytes; expected 16 to 4096",
                assertThrows(IllegalArgumentException.class, () -> SharedSecret.of(new byte[15])).getMessage());
        assertThrows(IllegalArgumentException.class, () -> SharedSecret.of(new byte[4097]));
    }

    @Test
    void isCopied() {
        byte[] key = HandshakeFixture.ascii("0123456789abcdef");
        SharedSecret secret = SharedSecret.of(key);
        byte[] before = secret.proof("x");
        key[0] = 'x';
        assertArrayEquals(before, secret.proof("x"));
    }

    @Test
    void isReadWithoutTheLineEnd() throws IOException {
        byte[] expected = SharedSecret.of(HandshakeFixture.ascii("0123456789abcdef")).proof("x");
        for (String end : List.of("", "\n", "\r\n")) {
            assertArrayEquals(expected, SharedSecret.read(file("0123456789abcdef" + end)).proof("x"), end);
        }
        byte[] other = SharedSecret.read(file("0123456789abcdef\n\n")).proof("x");
        assertFalse(Arrays.equals(expected, other), "one line end only");
        SharedSecret.read(file("x".repeat(4096) + "\r\n"));
    }

    @Test
    void saysWhatIsWrongWithAFile() throws IOException {
        Path absent = directory.resolve("absent");
        assertEquals("there is no file " + absent + " with the shared secret", problem(absent));
        Path brief = file("0123456789abcde\n");
        assertEquals("the shared secret in " + brief
                + " has 15 bytes; expected 16 to 4096, and a line end at most", problem(brief));
        Path empty = file("");
        assertEquals("the shared secret in " + empty
                + " has 0 bytes; expected 16 to 4096, and a line end at most", problem(empty));
        Path huge = file("x".repeat(100_000));
        assertEquals("the shared secret in " + huge
                + " has too many bytes; expected 16 to 4096, and a line end at most", problem(huge));
        assertEquals("the shared secret cannot be read from " + directory + ": Is a directory", problem(directory));
    }

    @Test
    void isNotPrinted() {
        assertEquals("SharedSecret", SharedSecret.of(new byte[16]).toString());
    }

    /** Cryptography takes its time to start; whoever has no secret must not wait for it. */
    @Test
    void isTheOnlyOneThatUsesCryptography() throws Exception {
        Path classes = Path.of(SharedSecret.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .resolve("io/github/nettyucx/handshake");
        List<String> users = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes)) {
            for (Path file : files.toList()) {
                for (PoolEntry entry : ClassFile.of().parse(file).constantPool()) {
                    if (entry instanceof Utf8Entry text && text.stringValue().contains("javax/crypto")) {
                        users.add(file.getFileName().toString());
                        break;
                    }
                }
            }
        }
        assertEquals(List.of("SharedSecret.class"), users);
    }

    private Path file(String content) throws IOException {
        return Files.writeString(Files.createTempFile(directory, "secret", ""), content);
    }

    private static String problem(Path file) {
        return assertThrows(IOException.class, () -> SharedSecret.read(file)).getMessage();
    }
}
