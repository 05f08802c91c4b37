// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What a broker has the cluster agree to. Each says of what state it speaks: one that comes too late, or a second time, is
 * rejected.
 */
public sealed interface ClusterCommand {

    /**
     * A broker begins to lead, in the next epoch.
     *
     * @param after the epoch before
     */
    record Lead(String node, long after) implements ClusterCommand { }

    /**
     * The leader says who is in sync.
     *
     * @param epoch the leader's
     * @param version how often the set has changed before
     */
    record ChangeInSync(long epoch, long version, SortedSet<String> inSync) implements ClusterCommand { }

    /** The leader makes a topic. The same one once more is fine. */
    record AddTopic(long epoch, String name, int partitions) implements ClusterCommand { }

    default byte[] toBytes() {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            switch (this) {
                case Lead lead -> {
                    out.writeByte(1);
                    out.writeUTF(lead.node);
                    out.writeLong(lead.after);
                }
                case ChangeInSync change -> {
                    out.writeByte(2);
                    out.writeLong(change.epoch);
                    out.writeLong(change.version);
                    write(out, change.inSync);
                }
                case AddTopic add -> {
                    out.writeByte(3);
                    out.writeLong(add.epoch);
                    out.writeUTF(add.name);
                    out.writeInt(add.partitions);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** @throws IOException if it is none: brokers of several versions are in the cluster */
    static ClusterCommand of(byte[] bytes) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            var kind = in.readByte();
            return switch (kind) {
                case 1 -> new Lead(in.readUTF(), in.readLong());
                case 2 -> new ChangeInSync(in.readLong(), in.readLong(), read(in));
                case 3 -> new AddTopic(in.readLong(), in.readUTF(), in.readInt());
                default -> throw new IOException("a command is of kind " + kind + " (expected: 1 to 3)");
            };
        }
    }

    static void write(DataOutputStream out, SortedSet<String> names) throws IOException {
        out.writeInt(names.size());
        for (var name : names) {
            out.writeUTF(name);
        }
    }

    static SortedSet<String> read(DataInputStream in) throws IOException {
        var names = new TreeSet<String>();
        for (var left = in.readInt(); left > 0; left--) {
            names.add(in.readUTF());
        }
        return names;
    }
}
