// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Numbers of processors, in the list that the kernel and {@code taskset -c} have for them, as in {@code 0-3,8}. */
final class Processors {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private Processors() {
    }

    static List<Integer> parse(String list) {
        return Arrays.stream(list.strip().split(",")).flatMapToInt(part -> {
            var ends = part.split("-");
            return IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }).boxed().toList();
    }

    /** Those that this process may use. */
    static List<Integer> allowed() {
        try (var lines = Files.lines(STATUS)) {
            return parse(lines.filter(line -> line.startsWith(ALLOWED)).findFirst().orElseThrow()
                    .substring(ALLOWED.length()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Two for processes that never pause: if there are two among those that are measured, these.
     *
     * @param measured where the server and the client are
     * @param allowed two of them at least
     */
    static Pinning two(Pinning measured, List<Integer> allowed) {
        var servers = measured.server() == null ? allowed : parse(measured.server());
        var clients = measured.client() == null ? allowed : parse(measured.client());
        for (var server : servers) {
            for (var client : clients) {
                if (!client.equals(server)) {
                    return pinning(server, client);
                }
            }
        }
        // Both sides share one.
        var shared = servers.getFirst();
        return pinning(shared, allowed.stream().filter(other -> !other.equals(shared)).findFirst().orElseThrow());
    }

    private static Pinning pinning(int server, int client) {
        return new Pinning(Integer.toString(server), Integer.toString(client));
    }
}
