// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.SelfSignedCertificate;
import io.github.nettyucx.examples.Setting;
import java.nio.file.Path;

/**
 * What a child process is told to do.
 *
 * @param certificateDirectory of the {@link SelfSignedCertificate} that the server has and the client trusts, or
 *         {@code null} for a scenario without TLS
 */
record Task(Scenario scenario, Setting setting, String certificateDirectory) {

    /** Without TLS. */
    Task(Scenario scenario, Setting setting) {
        this(scenario, setting, null);
    }

    /** Belongs to whoever made it, and is closed by them. */
    SelfSignedCertificate certificate() {
        return SelfSignedCertificate.at(Path.of(certificateDirectory));
    }
}
