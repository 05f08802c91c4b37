// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.ProgramRun;
import io.github.nettyucx.library.UcxEnvironment;
import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.library.UcxVersion;
import io.github.nettyucx.ucp.UcpConfig;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcxException;
import io.github.nettyucx.worker.LinkKind;
import io.github.nettyucx.worker.UcxRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** The UCX that is in use here, what it has to offer, and how it has been set up. */
final class UcxFacts {
    private static final long UCX_INFO_SECONDS = 30;

    private UcxFacts() {
    }

    /** Returns whether UCX can be used. */
    static boolean addTo(Report report) {
        report.section("UCX");
        var cause = Ucx.unavailabilityCause();
        if (cause != null) {
            report.fact("available", "no").fact("cause", Explanation.of(cause));
            addSettings(report, UcxVersion.MINIMUM);
            return false;
        }
        var library = UcxLibrary.load();
        report.fact("available", "yes").fact("version", library.version()).fact("library", library.path())
                .fact("origin", library.origin());
        var usable = true;
        try {
            report.fact("resources", resources());
        } catch (UcxException | RuntimeException e) {
            usable = false;
            report.fact("resources", "none to be had: " + Explanation.of(e));
        }
        for (var kind : LinkKind.values()) {
            var problem = UcxRuntime.unavailability(kind);
            report.fact("lane " + kind.name().toLowerCase(Locale.ROOT), problem == null ? "can be had" : "no: " + problem);
        }
        addSettings(report, library.version());
        return usable;
    }

    /** All that UCX finds here: each transport with its device. Of these a lane takes those of its kind. */
    private static String resources() throws UcxException {
        try (var config = UcpConfig.read(null)) {
            var tls = System.getProperty(UcxRuntime.TLS_PROPERTY);
            if (tls != null) {
                config.modify("TLS", tls);
            }
            try (var context = UcpContext.create(new UcpContextParams()
                    .features(UcpFeature.TAG, UcpFeature.WAKEUP).config(config))) {
                var resources = context.resources();
                // A later UCX may print them in another form: then as they are.
                return resources.isEmpty() ? context.describe() : HostFacts.joined(resources);
            }
        }
    }

    private static void addSettings(Report report, UcxVersion version) {
        report.section("Variables that you have set (UCX_*)");
        var variables = new TreeMap<>(System.getenv());
        variables.keySet().removeIf(name -> !name.startsWith("UCX_"));
        variables.forEach(report::fact);
        report.section("Properties that you have set (io.github.nettyucx.*)");
        var properties = new TreeMap<>(System.getProperties());
        properties.forEach((name, value) -> {
            if (name.toString().startsWith("io.github.nettyucx.")) {
                report.fact(name.toString(), value);
            }
        });
        report.section("Variables that this transport sets, because you have not");
        for (var setting : UcxEnvironment.settings(version)) {
            if (!variables.containsKey(setting.name())) {
                report.fact(setting.name(), setting.value().isEmpty() ? "(empty)" : setting.value());
            }
        }
    }

    /** What UCX's own program says about devices, if its installation has it. */
    static Report devices() throws InterruptedException {
        var report = new Report().section("Devices");
        if (!Ucx.isAvailable()) {
            return report.fact("ucx_info -d", "not asked: UCX is not available");
        }
        var program = program();
        return program.isEmpty() ? report.fact("ucx_info", "not part of this installation of UCX")
                : report.fact(program.get() + " -d", output(program.get()));
    }

    /** Beside the library: {@code lib/libucp.so.0} and {@code bin/ucx_info}, with directories between in Debian. */
    private static Optional<Path> program() {
        for (var at = UcxLibrary.load().path().getParent(); at != null; at = at.getParent()) {
            var candidate = at.resolve("bin").resolve("ucx_info");
            if (Files.isExecutable(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    private static String output(Path program) throws InterruptedException {
        try {
            var builder = new ProcessBuilder(program.toString(), "-d");
            builder.environment().put("LD_LIBRARY_PATH", UcxLibrary.load().path().getParent().toString());
            return "\n" + ProgramRun.of(builder, UCX_INFO_SECONDS).output();
        } catch (IOException e) {
            return "failed: " + e.getMessage();
        }
    }
}
