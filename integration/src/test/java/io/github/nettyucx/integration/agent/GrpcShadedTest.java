// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** gRPC's most used artifact, which has a Netty of its own inside: all four kinds of call, without and with TLS. */
@Timeout(240)
class GrpcShadedTest {

    static final List<Path> CLASS_PATH = JavaProcess.classPath("/io/grpc/", "/com/google/guava/",
            "/io/perfmark/", "/com/google/code/", "/com/google/errorprone/", "/com/google/android/");
    private static final String PASSWORD = "changeit";

    @TempDir
    Path directory;

    /** What one run has told. */
    private record Run(String answers, long callsPerSecond, String client, String server) {
    }

    private static Run run(boolean serverHasIt, boolean clientHasIt, List<String> serverTls, List<String> clientTls)
            throws Exception {
        try (JavaProcess server = start(serverHasIt, "server", serverTls)) {
            String port = server.awaitLine("listening ");
            List<String> arguments = new ArrayList<>(List.of(port));
            arguments.addAll(clientTls);
            try (JavaProcess client = start(clientHasIt, "client", arguments)) {
                String answers = client.awaitLine("answers ");
                long calls = Long.parseLong(client.awaitLine("calls per second "));
                String told = client.awaitEnd();
                server.tell("");
                return new Run(answers, calls, told, server.awaitEnd());
            }
        }
    }

    private static JavaProcess start(boolean agent, String role, List<String> arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(GrpcApplication.class.getName(), role));
        all.addAll(arguments);
        return JavaProcess.start(agent, CLASS_PATH, all.toArray(String[]::new));
    }

    private static void compare(String what, List<String> serverTls, List<String> clientTls) throws Exception {
        Run without = run(false, false, serverTls, clientTls);
        Run with = run(true, true, serverTls, clientTls);
        System.out.printf("gRPC, Netty inside, %s: %,d unary calls/s without the agent, %,d with it (%.2f)%n", what,
                without.callsPerSecond, with.callsPerSecond, (double) with.callsPerSecond / without.callsPerSecond);
        assertEquals(without.answers, with.answers);
        LaneReport.of(with.client).requireMemory("client");
        LaneReport.of(with.server).requireMemory("server");
        assertTrue(LaneReport.of(with.client).bytes(true) > 6 * 1024 * 1024, with.client);
    }

    @Test
    void plaintext() throws Exception {
        compare("plaintext", List.of(), List.of());
    }

    @Test
    void tls() throws Exception {
        Path certificate = directory.resolve("certificate.pem");
        Path key = directory.resolve("key.pem");
        makeCertificate(certificate, key);
        compare("TLS", List.of(certificate.toString(), key.toString()), List.of(certificate.toString()));
    }

    @Test
    void oneSideWithoutTheAgent() throws Exception {
        Run plainServer = run(false, true, List.of(), List.of());
        LaneReport client = LaneReport.of(plainServer.client);
        assertTrue(client.connections(false, "client") > 0 && client.connections(true, "client") == 0, plainServer.client);
        Run plainClient = run(true, false, List.of(), List.of());
        LaneReport server = LaneReport.of(plainClient.server);
        assertTrue(server.connections(false, "server") > 0 && server.connections(true, "server") == 0, plainClient.server);
        assertEquals(plainServer.answers, plainClient.answers);
    }

    /** By the JDK's own tool. */
    private void makeCertificate(Path certificate, Path key) throws Exception {
        Path store = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                "-genkeypair", "-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD, "-alias",
                "test", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=localhost", "-ext",
                "SAN=dns:localhost,ip:127.0.0.1", "-validity", "2").redirectErrorStream(true).start();
        String output = new String(keytool.getInputStream().readAllBytes());
        assertEquals(0, keytool.waitFor(), output);
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        Certificate made = keys.getCertificate("test");
        Files.writeString(certificate, pem("CERTIFICATE", made.getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", keys.getKey("test", PASSWORD.toCharArray()).getEncoded()));
    }

    private static String pem(String type, byte[] bytes) {
        return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + type
                + "-----\n";
    }
}
