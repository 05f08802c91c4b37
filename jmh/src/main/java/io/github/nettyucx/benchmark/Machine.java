// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where something was measured.
 *
 * @param processor the model, as the kernel names it
 * @param memoryBytes of the whole machine
 * @param loadAverage of the minute before the measurements: above 0.5, say, others were busy too
 */
record Machine(String processor, int processors, long memoryBytes, String os, String java, double loadAverage) {

    static Machine current() {
        return new Machine(line("/proc/cpuinfo", "model name"), Runtime.getRuntime().availableProcessors(),
                kilobytes(line("/proc/meminfo", "MemTotal")) * 1024,
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static long kilobytes(String text) {
        var digits = text.replaceAll("\\D", "");
        return digits.isEmpty() ? 0 : Long.parseLong(digits);
    }

    /** What stands behind the colon. */
    private static String line(String file, String name) {
        try (var lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name)).findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip()).orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
