// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryRight;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * @param directory with the log's files; made if it is not there
 * @param segmentBytes of each segment
 * @param durability what has happened to a record when it is acknowledged
 * @param reservation how long a reserved place may stay empty while others wait behind it
 * @param memory what peers reach
 * @param followers brokers with segments that are no shorter, which get every record. A record is committed when all
 *                  that are in sync have it
 * @param minFollowers how many of them have to be in sync for a record to be committed
 * @param followerPatience how long a follower may be without an answer before it is no longer in sync
 * @param cluster of brokers that choose their leader, whose followers the others are then; {@code null} for one that leads
 *                whatever happens
 */
public record BrokerSettings(Path directory, int segmentBytes, Durability durability, Duration reservation,
                             MemorySource memory, List<HostAndPort> followers, int minFollowers,
                             Duration followerPatience, ClusterSettings cluster) {
    public static final int DEFAULT_SEGMENT_BYTES = 16 << 20;
    public static final Duration DEFAULT_RESERVATION = Duration.ofMillis(500);
    public static final Duration DEFAULT_FOLLOWER_PATIENCE = Duration.ofSeconds(10);

    /** Where what peers reach comes from. */
    @FunctionalInterface
    public interface MemorySource {
        /**
         * @param length in bytes
         * @throws OutOfMemoryError if there is not so much
         */
        UcxMemory allocate(long length, UcxMemoryRight... rights);
    }

    /** Who carries out what peers ask for. */
    public enum MemoryKind implements MemorySource {
        /** Peers on the same machine attach the memory, and use it themselves. */
        ATTACHED {
            @Override
            public UcxMemory allocate(long length, UcxMemoryRight... rights) {
                return UcxMemory.allocate(length, rights);
            }
        },
        /** The broker's event loop does, and checks each operation. For peers that are not trusted. */
        CHECKED {
            @Override
            public UcxMemory allocate(long length, UcxMemoryRight... rights) {
                return UcxMemory.allocateChecked(length, rights);
            }
        }
    }

    public BrokerSettings {
        followers = List.copyOf(followers);
        if (segmentBytes < Records.HEADER || segmentBytes > 1 << 30) {
            throw new IllegalArgumentException("segmentBytes: " + segmentBytes + " (expected: " + Records.HEADER + " to "
                    + (1 << 30) + ")");
        }
        if (cluster != null && !followers.isEmpty()) {
            throw new IllegalArgumentException("followers: " + followers + " (expected: none, for the cluster says who"
                    + " follows)");
        }
        var most = cluster == null ? followers.size() : cluster.others().size();
        if (minFollowers < 0 || minFollowers > most) {
            throw new IllegalArgumentException("minFollowers: " + minFollowers + " (expected: 0 to " + most
                    + ", the number of followers)");
        }
        requirePositive("reservation", reservation);
        requirePositive("followerPatience", followerPatience);
    }

    private static void requirePositive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: more than 0)");
        }
    }

    public static BrokerSettings in(Path directory) {
        return new BrokerSettings(directory, DEFAULT_SEGMENT_BYTES, Durability.PAGE_CACHE, DEFAULT_RESERVATION,
                MemoryKind.ATTACHED, List.of(), 0, DEFAULT_FOLLOWER_PATIENCE, null);
    }

    public BrokerSettings withSegmentBytes(int bytes) {
        return new BrokerSettings(directory, bytes, durability, reservation, memory, followers, minFollowers,
                followerPatience, cluster);
    }

    public BrokerSettings withDurability(Durability chosen) {
        return new BrokerSettings(directory, segmentBytes, chosen, reservation, memory, followers, minFollowers,
                followerPatience, cluster);
    }

    public BrokerSettings withReservation(Duration chosen) {
        return new BrokerSettings(directory, segmentBytes, durability, chosen, memory, followers, minFollowers,
                followerPatience, cluster);
    }

    public BrokerSettings withMemory(MemorySource chosen) {
        return new BrokerSettings(directory, segmentBytes, durability, reservation, chosen, followers, minFollowers,
                followerPatience, cluster);
    }

    public BrokerSettings withFollowers(List<HostAndPort> chosen) {
        return new BrokerSettings(directory, segmentBytes, durability, reservation, memory, chosen, minFollowers,
                followerPatience, cluster);
    }

    /** Of followers, or a cluster, that have been given before. */
    public BrokerSettings withMinFollowers(int number) {
        return new BrokerSettings(directory, segmentBytes, durability, reservation, memory, followers, number,
                followerPatience, cluster);
    }

    public BrokerSettings withFollowerPatience(Duration chosen) {
        return new BrokerSettings(directory, segmentBytes, durability, reservation, memory, followers, minFollowers,
                chosen, cluster);
    }

    public BrokerSettings withCluster(ClusterSettings chosen) {
        return new BrokerSettings(directory, segmentBytes, durability, reservation, memory, followers, minFollowers,
                followerPatience, chosen);
    }
}
