// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the brokers of a cluster agree on. It changes by commands only, which all of them apply in the same order.
 *
 * @param epoch the number of the present leadership; 0 before the first
 * @param leader its broker; empty before the first
 * @param version how often the set below has changed
 * @param inSync the brokers that have all that was ever acknowledged: only these may lead
 * @param topics and how many partitions each has
 */
public record ClusterState(long epoch, String leader, long version, SortedSet<String> inSync,
                           SortedMap<String, Integer> topics) {

    /** Of all topics together: as many as a broker can have. */
    public static final int MAX_PARTITIONS = 512;

    /** A command says what can no longer be. Nothing has changed. */
    public static final class RejectedException extends Exception {
        private static final long serialVersionUID = 1L;

        RejectedException(String message) {
            super(message);
        }
    }

    public ClusterState {
        inSync = Collections.unmodifiableSortedSet(new TreeSet<>(inSync));
        topics = Collections.unmodifiableSortedMap(new TreeMap<>(topics));
    }

    static ClusterState initial(SortedSet<String> nodes) {
        return new ClusterState(0, "", 0, nodes, new TreeMap<>());
    }

    /** The state behind a command. */
    public ClusterState apply(ClusterCommand command) throws RejectedException {
        return switch (command) {
            case ClusterCommand.Lead lead -> {
                require(lead.after() == epoch, "epoch " + epoch + " of " + leader + " has begun, and not " + lead.after());
                require(inSync.contains(lead.node()), lead.node() + " is not in sync: " + inSync + " are");
                yield new ClusterState(epoch + 1, lead.node(), version, inSync, topics);
            }
            case ClusterCommand.ChangeInSync change -> {
                requireEpoch(change.epoch());
                require(change.version() == version, "the set has changed " + version + " times, and not "
                        + change.version());
                require(change.inSync().contains(leader), "the leader, " + leader + ", is in sync always");
                yield new ClusterState(epoch, leader, version + 1, change.inSync(), topics);
            }
            case ClusterCommand.AddTopic add -> {
                requireEpoch(add.epoch());
                var partitions = topics.getOrDefault(add.name(), add.partitions());
                require(partitions == add.partitions(), "topic " + add.name() + " has " + partitions + " partitions");
                var more = new TreeMap<>(topics);
                more.put(add.name(), add.partitions());
                // A broker that could not make one of the topics could not lead.
                var all = more.values().stream().mapToLong(Integer::longValue).sum();
                require(all <= MAX_PARTITIONS, "with topic " + add.name() + " there would be " + all + " partitions (expected: "
                        + MAX_PARTITIONS + " at most)");
                yield new ClusterState(epoch, leader, version, inSync, more);
            }
        };
    }

    private void requireEpoch(long given) throws RejectedException {
        require(epoch > 0, "no epoch has begun");
        require(given == epoch, "this is epoch " + epoch + " of " + leader + ", and not " + given);
    }

    private static void require(boolean condition, String otherwise) throws RejectedException {
        if (!condition) {
            throw new RejectedException(otherwise);
        }
    }

    // ------------------------------------------------------------------------------------------- as bytes

    byte[] toBytes() {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeLong(epoch);
            out.writeUTF(leader);
            out.writeLong(version);
            ClusterCommand.write(out, inSync);
            out.writeInt(topics.size());
            for (var topic : topics.entrySet()) {
                out.writeUTF(topic.getKey());
                out.writeInt(topic.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static ClusterState of(byte[] bytes) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            var epoch = in.readLong();
            var leader = in.readUTF();
            var version = in.readLong();
            var inSync = ClusterCommand.read(in);
            var topics = new TreeMap<String, Integer>();
            for (var left = in.readInt(); left > 0; left--) {
                topics.put(in.readUTF(), in.readInt());
            }
            return new ClusterState(epoch, leader, version, inSync, topics);
        }
    }
}
