// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.UUID;

/**
 * A certificate for servers on this host, as PEM files in a directory that goes with this object, or with the process that
 * made it; made by the JDK's {@code keytool}. For tests: whoever can read the directory has the key.
 */
public final class SelfSignedCertificate implements AutoCloseable {
    private static final String ALIAS = "server";
    private static final long KEYTOOL_SECONDS = 60;

    private final Path directory;
    /** {@code null} if another process made it, with which it goes. */
    private final TemporaryDirectory own;

    private SelfSignedCertificate(Path directory, TemporaryDirectory own) {
        this.directory = directory;
        this.own = own;
    }

    /** What another process made, and keeps while this one has it. */
    public static SelfSignedCertificate at(Path directory) {
        return new SelfSignedCertificate(directory, null);
    }

    /** Good for a day. */
    public static SelfSignedCertificate create() throws InterruptedException {
        try {
            var own = TemporaryDirectory.make(null, "netty-ucx-example-");
            var made = new SelfSignedCertificate(own.path(), own);
            try {
                made.fill();
                return made;
            } catch (IOException | GeneralSecurityException | RuntimeException | InterruptedException e) {
                made.close();
                throw e;
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new ExampleFailure("cannot make a certificate: " + e.getMessage(), e);
        }
    }

    /** Only the user who runs this can read it. */
    public Path directory() {
        return directory;
    }

    /** The certificate, which is also what clients have to trust. */
    public Path certificate() {
        return directory.resolve("certificate.pem");
    }

    /** The private key to it, PKCS #8. */
    public Path key() {
        return directory.resolve("key.pem");
    }

    private void fill() throws IOException, GeneralSecurityException, InterruptedException {
        var password = UUID.randomUUID().toString();
        var store = directory.resolve("store.p12");
        var keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", ALIAS, "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "1",
                "-dname", "CN=Netty UCX example", "-ext", "SAN=dns:localhost,ip:127.0.0.1,ip:::1",
                "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass:env", "STORE_PASSWORD");
        // Not as an argument, which everybody on the machine could read.
        keytool.environment().put("STORE_PASSWORD", password);
        var made = ProgramRun.of(keytool, KEYTOOL_SECONDS);
        if (made.exitCode() != 0) {
            throw new IOException("keytool failed: " + made.output().strip());
        }
        var keys = KeyStore.getInstance(store.toFile(), password.toCharArray());
        Files.writeString(certificate(), pem("CERTIFICATE", keys.getCertificate(ALIAS).getEncoded()));
        Files.writeString(key(), pem("PRIVATE KEY", keys.getKey(ALIAS, password.toCharArray()).getEncoded()));
    }

    private static String pem(String what, byte[] content) {
        return "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
                + "\n-----END " + what + "-----\n";
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }
}
