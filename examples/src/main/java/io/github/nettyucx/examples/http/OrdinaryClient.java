// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.Checks.requireEqual;

import io.github.nettyucx.examples.Checks.Check;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The JDK's own HTTP client, which knows TCP and nothing of UCX. It asks the same server at the same port; as curl or a
 * browser would.
 */
final class OrdinaryClient {
    private static final int FIRST = 333_333;
    private static final int LAST = 777_777;

    private final HttpTarget target;

    /**
     * @param target {@code null} where only the names of the checks are wanted
     */
    OrdinaryClient(HttpTarget target) {
        this.target = target;
    }

    List<Check> checks() {
        return List.of(new Check("an ordinary client over TCP, the JDK's, at the same port", this::ask));
    }

    private void ask() throws InterruptedException {
        var version = target.protocol() == HttpProtocol.HTTP_2 ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
        try (var client = client(target.trust())) {
            var name = CheckFiles.ODD;
            var request = HttpRequest.newBuilder(
                            URI.create(target.scheme() + "://" + target.server() + FileChecks.path(name)))
                    .version(version).timeout(Duration.ofSeconds(ClientConnections.PATIENCE_SECONDS));
            var whole = client.send(request.build(), BodyHandlers.ofByteArray());
            requireEqual(200, whole.statusCode(), "status of " + name);
            compare(name, whole.body(), 0, CheckFiles.ODD_SIZE);
            if (target.trust() != null) {
                // Without TLS this client offers HTTP/2 as an upgrade, which a server may pass over.
                requireEqual(version, whole.version(), "version of the answer");
            }
            var part = client.send(request.header("Range", "bytes=" + FIRST + "-" + LAST).build(),
                    BodyHandlers.ofByteArray());
            requireEqual(206, part.statusCode(), "status of a part of " + name);
            compare(name, part.body(), FIRST, LAST - FIRST + 1);
        } catch (IOException e) {
            throw new ExampleFailure("the JDK's client: " + Explanation.of(e), e);
        }
    }

    private static void compare(String name, byte[] found, int first, int length) {
        requireEqual(length, found.length, "length of " + name);
        new SeededContent(name).comparison(first).accept(Unpooled.wrappedBuffer(found));
    }

    /**
     * @param trust PEM file with the certificate that servers have to have, or {@code null} for the JDK's own choice
     */
    static HttpClient client(Path trust) {
        var builder = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(ClientConnections.PATIENCE_SECONDS));
        return (trust == null ? builder : builder.sslContext(trusting(trust))).build();
    }

    static SSLContext trusting(Path certificate) {
        try (var in = Files.newInputStream(certificate)) {
            var store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null);
            store.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(in));
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new ExampleFailure("cannot use " + certificate + ": " + Explanation.of(e), e);
        }
    }
}
