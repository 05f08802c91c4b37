// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.storage.LogException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file that says to which cluster, and to which of its brokers, a directory belongs. What a broker has written by itself
 * has no epochs, and what another one has written is not what the cluster thinks to be there.
 */
final class ClusterMark {
    private static final String NAME = "cluster.txt";

    private ClusterMark() {
    }

    /**
     * Marks a directory that is empty.
     *
     * @param cluster to which it is to belong, or {@code null}
     * @throws LogException if it belongs elsewhere
     */
    static void require(Path directory, ClusterSettings cluster, boolean isEmpty) throws IOException {
        var file = directory.resolve(NAME);
        var there = Files.exists(file) ? Files.readString(file) : null;
        var wanted = cluster == null ? null : "cluster " + cluster.name() + ", broker " + cluster.self().id() + "\n";
        if (there == null && wanted != null && isEmpty) {
            var unfinished = directory.resolve(NAME + ".new");
            Files.writeString(unfinished, wanted);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        } else if (there == null && wanted != null) {
            throw new LogException(directory + " has a log that is not of a cluster (expected: an empty directory, or the one"
                    + " of " + wanted.strip() + "). Choose another directory.");
        } else if (there != null && wanted == null) {
            throw new LogException(directory + " belongs to " + there.strip() + ". Start it with --cluster and --nodes, or"
                    + " choose another directory.");
        } else if (there != null && !there.equals(wanted)) {
            throw new LogException(directory + " belongs to " + there.strip() + " (expected: " + wanted.strip()
                    + "). Choose another directory.");
        }
    }
}
