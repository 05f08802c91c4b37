// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import io.netty.util.Version;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Inet6Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What this machine and this JVM are, as far as it matters to UCX. */
final class HostFacts {
    private static final String UNKNOWN = "unknown";
    private static final Path INFINIBAND = Path.of("/sys/class/infiniband");

    private HostFacts() {
    }

    static void addTo(Report report) {
        report.section("Machine")
                .fact("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"))
                .fact("distribution", find(Path.of("/etc/os-release"), "PRETTY_NAME=\"?([^\"]*)\"?"))
                .fact("processor", find(Path.of("/proc/cpuinfo"), "model name\\s*:\\s*(.*)"))
                .fact("processors", Runtime.getRuntime().availableProcessors() + " for this process")
                .fact("memory", find(Path.of("/proc/meminfo"), "MemTotal:\\s*(.*)"))
                .fact("cgroup's memory", text(Path.of("/sys/fs/cgroup/memory.max")))
                .fact("network", interfaces())
                .fact("RDMA devices", rdmaDevices());
        report.section("Limits")
                .fact("open files", limit("Max open files"))
                .fact("locked memory", limit("Max locked memory"))
                .fact("address space", limit("Max address space"))
                .fact("/dev/shm", space(Path.of("/dev/shm")))
                .fact("kernel.shmmax", text(Path.of("/proc/sys/kernel/shmmax")) + " bytes")
                .fact("kernel.shmall", text(Path.of("/proc/sys/kernel/shmall")) + " pages")
                .fact("kernel.shmmni", text(Path.of("/proc/sys/kernel/shmmni")) + " segments")
                .fact("net.core.somaxconn", text(Path.of("/proc/sys/net/core/somaxconn")));
        var runtime = ManagementFactory.getRuntimeMXBean();
        report.section("Java")
                .fact("version", Runtime.version() + ", " + runtime.getVmVendor())
                .fact("virtual machine", runtime.getVmName())
                .fact("home", System.getProperty("java.home"))
                .fact("options", joined(runtime.getInputArguments()))
                .fact("Netty", netty());
    }

    private static String netty() {
        var versions = Version.identify().values().stream().map(Version::artifactVersion).distinct().sorted().toList();
        return versions.isEmpty() ? UNKNOWN : String.join(" and ", versions);
    }

    private static String interfaces() {
        try {
            return joined(NetworkInterface.networkInterfaces().filter(HostFacts::isUp)
                    .map(HostFacts::describe).sorted().toList());
        } catch (SocketException e) {
            return UNKNOWN + ": " + e.getMessage();
        }
    }

    private static boolean isUp(NetworkInterface candidate) {
        try {
            return candidate.isUp();
        } catch (SocketException e) {
            return false;
        }
    }

    /** Without addresses: a report may be for everybody to read. */
    private static String describe(NetworkInterface up) {
        var families = up.getInterfaceAddresses().stream().map(InterfaceAddress::getAddress)
                .map(address -> address instanceof Inet6Address ? "IPv6" : "IPv4")
                .distinct().sorted().collect(Collectors.joining("+"));
        try {
            return up.getName() + " (MTU " + up.getMTU() + ", " + (families.isEmpty() ? "no address" : families) + ")";
        } catch (SocketException e) {
            return up.getName();
        }
    }

    private static String rdmaDevices() {
        if (!Files.isDirectory(INFINIBAND)) {
            return "none";
        }
        try (var devices = Files.list(INFINIBAND)) {
            return joined(devices.sorted().map(device -> device.getFileName() + " (" + ports(device) + ")").toList());
        } catch (IOException e) {
            return UNKNOWN + ": " + e.getMessage();
        }
    }

    private static String ports(Path device) {
        try (var ports = Files.list(device.resolve("ports"))) {
            return ports.sorted().map(port -> "port " + port.getFileName() + " " + text(port.resolve("state")) + ", "
                    + text(port.resolve("link_layer")) + ", " + text(port.resolve("rate")))
                    .collect(Collectors.joining("; "));
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    /** The soft and the hard limit. */
    private static String limit(String name) {
        return find(Path.of("/proc/self/limits"), Pattern.quote(name) + "\\s+(\\S+\\s+\\S+\\s*\\S*)")
                .replaceAll("\\s+", " ").replaceFirst(" ", ", at most ");
    }

    private static String space(Path directory) {
        try {
            var store = Files.getFileStore(directory);
            return String.format(Locale.ROOT, "%,d MiB, %,d MiB of it free", store.getTotalSpace() >> 20,
                    store.getUsableSpace() >> 20);
        } catch (IOException e) {
            return UNKNOWN + ": " + e;
        }
    }

    private static String find(Path file, String pattern) {
        var matcher = Pattern.compile("^" + pattern + "[ \\t]*$", Pattern.MULTILINE).matcher(text(file));
        return matcher.find() ? matcher.group(1).strip() : UNKNOWN;
    }

    /** In one read of enough bytes: of files in /proc/sys, a second one finds nothing. */
    private static String text(Path file) {
        try (var in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    static String joined(Collection<String> values) {
        return values.isEmpty() ? "none" : String.join("\n", List.copyOf(values));
    }
}
