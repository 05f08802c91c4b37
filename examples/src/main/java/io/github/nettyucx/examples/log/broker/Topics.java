// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.memory.UcxMemory;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * All partitions of a broker, by their numbers. On disk a topic is a directory, and each of its partitions a directory in
 * that. Once the broker has begun, for its event loop only.
 */
final class Topics {
    /** What the client is told. */
    record Topic(int first, int partitions) { }

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,100}");
    /** No topic can have that name. */
    private static final String LOCK = "broker.lock";
    /** Of a topic that is being made: it is renamed when all of its partitions are there. */
    private static final String UNFINISHED = ".new";

    private final BrokerSettings settings;
    private final FileChannel lock;
    private final Map<String, Topic> topics = new LinkedHashMap<>();
    private final List<Partition> partitions = new ArrayList<>();
    private final Map<UcxMemory, Partition> byMemory = new IdentityHashMap<>();
    private final Slots slots;
    private final CommitRule rule;
    private List<Follower> followers = List.of();

    private Topics(BrokerSettings settings, CommitRule rule, FileChannel lock) {
        this.settings = settings;
        this.rule = rule;
        this.lock = lock;
        slots = new Slots(settings);
    }

    /** Opens the log, and recovers what another broker has left of it. */
    static Topics open(BrokerSettings settings, CommitRule rule, EventExecutor loop) throws IOException {
        Files.createDirectories(settings.directory());
        var topics = new Topics(settings, rule, lock(settings.directory()));
        try {
            topics.recover(loop);
        } catch (IOException | RuntimeException e) {
            topics.close();
            throw e;
        }
        return topics;
    }

    private static FileChannel lock(Path directory) throws IOException {
        var channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException e) {
            // A broker in this process.
        }
        channel.close();
        throw new LogException(directory + " belongs to a broker that is running. Stop it, or choose another directory.");
    }

    private void recover(EventExecutor loop) throws IOException {
        List<Path> directories;
        try (var files = Files.list(settings.directory())) {
            directories = files.filter(path -> Files.isDirectory(path)
                    && NAME.matcher(path.getFileName().toString()).matches()).sorted().toList();
        }
        ClusterMark.require(settings.directory(), settings.cluster(), directories.isEmpty());
        for (var directory : directories) {
            add(directory.getFileName().toString(), count(directory), loop);
        }
    }

    /** Of partitions. */
    private static int count(Path topic) throws IOException {
        try (var inside = Files.list(topic)) {
            return (int) inside.count();
        }
    }

    private Topic add(String name, int count, EventExecutor loop) throws IOException {
        var topic = new Topic(partitions.size(), count);
        try {
            for (var i = 0; i < count; i++) {
                var directory = settings.directory().resolve(name).resolve(Integer.toString(i));
                // Of this nothing is open.
                var epochs = EpochHistory.open(directory, settings.durability());
                var log = PartitionLog.open(directory, settings.segmentBytes(), settings.durability());
                partitions.add(new Partition(partitions.size(), log, epochs, settings, rule, loop, slots, byMemory));
            }
        } catch (IOException | RuntimeException e) {
            // Followers would have to have partitions of which they are never told.
            while (partitions.size() > topic.first) {
                partitions.removeLast().close();
            }
            throw e;
        }
        topics.put(name, topic);
        var added = partitions.subList(topic.first, topic.first + count);
        followers.forEach(follower -> follower.replicate(name, added));
        return topic;
    }

    /**
     * The topic with that name, which is made if there is none.
     *
     * @throws IllegalArgumentException if it cannot have that name, or that number of partitions
     */
    Topic openTopic(String name, int count, EventExecutor loop) throws IOException {
        var topic = find(name, count);
        return topic == null ? make(name, count, loop) : topic;
    }

    /** The same, if there is one; {@code null} if it can be made. */
    Topic find(String name, int count) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("the topic's name is '" + name
                    + "' (expected: 1 to 100 letters, digits, - and _)");
        }
        var topic = topics.get(name);
        if (topic != null) {
            if (topic.partitions != count) {
                throw differs(name, topic.partitions, count);
            }
            return topic;
        }
        var room = Slots.COUNT - partitions.size();
        if (count < 1 || count > room) {
            throw new IllegalArgumentException("partitions: " + count + " (expected: 1 to " + room
                    + ", for a broker has at most " + Slots.COUNT + ")");
        }
        return null;
    }

    private static IllegalArgumentException differs(String name, int there, int asked) {
        return new IllegalArgumentException("topic " + name + " has " + there + " partitions, and " + asked
                + " were asked for: ask for as many as there are");
    }

    private Topic make(String name, int count, EventExecutor loop) throws IOException {
        var directory = settings.directory().resolve(name);
        if (Files.exists(directory)) {
            // It could not be opened then.
            var there = count(directory);
            if (there != count) {
                throw differs(name, there, count);
            }
            return add(name, count, loop);
        }
        var unfinished = settings.directory().resolve(name + UNFINISHED);
        for (var i = 0; i < count; i++) {
            Files.createDirectories(unfinished.resolve(Integer.toString(i)));
        }
        // One that was killed while it did the same may have left more.
        for (var i = count; Files.deleteIfExists(unfinished.resolve(Integer.toString(i)));) {
            i++;
        }
        settings.durability().persist(unfinished);
        Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
        settings.durability().persist(settings.directory());
        return add(name, count, loop);
    }

    /** @return {@code null} if there is none with this number */
    Partition partition(int number) {
        return number >= 0 && number < partitions.size() ? partitions.get(number) : null;
    }

    /** @return {@code null} if the memory has been revoked meanwhile */
    Partition of(UcxMemory memory) {
        return byMemory.get(memory);
    }

    /** The number of followers that have everything. */
    int followersInSync() {
        return rule.inSync(this);
    }

    /** Whether a follower has all that is committed. */
    boolean hasAll(Follower follower) {
        return partitions.stream().allMatch(one -> one.followers().isInSync(follower));
    }

    /** From now on these are to have all topics, those too that come to be. */
    void replicateTo(List<Follower> chosen) {
        followers = List.copyOf(chosen);
        topics.forEach((name, topic) -> followers.forEach(follower -> follower.replicate(name,
                partitions.subList(topic.first, topic.first + topic.partitions))));
    }

    List<Follower> followers() {
        return followers;
    }

    List<Partition> partitions() {
        return partitions;
    }

    Slots slots() {
        return slots;
    }

    void close() throws IOException {
        IOException failure = null;
        for (var partition : partitions) {
            try {
                partition.close();
            } catch (IOException e) {
                failure = e;
            }
        }
        slots.close();
        lock.close();
        if (failure != null) {
            throw failure;
        }
    }
}
