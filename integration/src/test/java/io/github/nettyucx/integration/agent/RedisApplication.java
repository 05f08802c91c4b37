// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A client of a Redis, Lettuce: {@code PORT ONE_BY_ONE PIPELINED}. Knows nothing of the agent. */
public final class RedisApplication {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int VALUE = 100;
    private static final int LARGE = 8 * 1024 * 1024;
    private static final int BATCH = 100;

    private RedisApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        int oneByOne = Integer.parseInt(arguments[1]);
        int pipelined = Integer.parseInt(arguments[2]);
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(arguments[0])));
        try (StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            connection.setTimeout(PATIENCE);
            MessageDigest answers = MessageDigest.getInstance("SHA-256");
            answers.update(connection.sync().set(key("large"), random(LARGE)).getBytes(StandardCharsets.UTF_8));
            answers.update(connection.sync().get(key("large")));
            pipelined(connection, pipelined / 2, null);
            System.out.println("pipelined " + pipelined(connection, pipelined, answers));
            oneByOne(connection, oneByOne / 2, null);
            System.out.println("one by one " + oneByOne(connection, oneByOne, answers));
            System.out.println("answers " + HexFormat.of().formatHex(answers.digest()));
        } finally {
            client.shutdown();
        }
        System.out.println("client done");
    }

    private static byte[] key(Object name) {
        return ("netty-ucx:" + name).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** @return requests per second */
    private static long oneByOne(StatefulRedisConnection<byte[], byte[]> connection, int requests, MessageDigest answers) {
        byte[] value = random(VALUE);
        long start = System.nanoTime();
        for (int number = 0; number < requests; number += 2) {
            value[0] = (byte) number;
            connection.sync().set(key(number), value);
            update(answers, connection.sync().get(key(number)));
        }
        return perSecond(requests, start);
    }

    /** @return requests per second */
    private static long pipelined(StatefulRedisConnection<byte[], byte[]> connection, int requests, MessageDigest answers) {
        byte[] value = random(VALUE);
        long start = System.nanoTime();
        for (int number = 0; number < requests; number += 2 * BATCH) {
            List<RedisFuture<?>> batch = new ArrayList<>();
            List<RedisFuture<byte[]>> values = new ArrayList<>();
            connection.setAutoFlushCommands(false);
            for (int index = 0; index < BATCH; index++) {
                value[1] = (byte) index;
                batch.add(connection.async().set(key(number + index), value.clone()));
                values.add(connection.async().get(key(number + index)));
            }
            batch.addAll(values);
            connection.flushCommands();
            connection.setAutoFlushCommands(true);
            if (!LettuceFutures.awaitAll(PATIENCE, batch.toArray(RedisFuture[]::new))) {
                throw new IllegalStateException("no answer for " + PATIENCE);
            }
            values.forEach(answer -> update(answers, answer.toCompletableFuture().join()));
        }
        return perSecond(requests, start);
    }

    private static void update(MessageDigest answers, byte[] answer) {
        if (answers != null) {
            answers.update(answer);
        }
    }

    private static long perSecond(int requests, long start) {
        return requests * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
    }
}
