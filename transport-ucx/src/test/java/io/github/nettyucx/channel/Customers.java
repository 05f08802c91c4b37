// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Clients that want to be served whatever happens around them: some send requests over connections that stay, one
 * connects anew for each. Everything that goes wrong fails {@link #close()}.
 */
final class Customers implements AutoCloseable {

    static final int STAYING = 4;
    /** So many requests have a p99. */
    private static final int ENOUGH = 100;
    private static final long PAUSE_MILLIS = 5;
    private static final long ANSWER_SECONDS = 20;

    private final Bootstrap bootstrap;
    private final Channel server;
    private final List<Client> staying = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closing;
    private volatile Throwable failure;
    private int requests;
    private int timed;
    private long[] requestNanos = new long[1024];
    private int connects;
    private long worstRequestNanos;
    private long worstConnectNanos;

    Customers(Peers peers, Channel server) throws InterruptedException {
        this(peers.client(new ChannelInboundHandlerAdapter()), server);
    }

    Customers(Bootstrap client, Channel server) throws InterruptedException {
        this.server = server;
        bootstrap = client;
        for (int i = 0; i < STAYING; i++) {
            staying.add(new Client());
        }
        thread = Thread.ofPlatform().daemon().name("customers").start(this::run);
    }

    /** A server's handler for them. */
    static class Clerk extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private final class Client extends ChannelInboundHandlerAdapter {

        private final BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
        private final Channel channel;

        Client() throws InterruptedException {
            channel = Peers.await(bootstrap.clone().handler(this).connect(server.localAddress())).channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            answers.add(buffer.readInt());
            buffer.release();
        }

        void ask(int question) throws InterruptedException {
            channel.writeAndFlush(Unpooled.copyInt(question));
            Integer answer = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
            assertNotNull(answer, () -> "no answer within " + ANSWER_SECONDS + " s");
            assertTrue(answer == question, () -> "asked " + question + ", answered " + answer);
        }
    }

    private void run() {
        try {
            // Some attacks are over in less time than one round takes.
            do {
                for (Client client : staying) {
                    long start = System.nanoTime();
                    client.ask(requests);
                    answered(System.nanoTime() - start);
                }
                long start = System.nanoTime();
                Client passing = new Client();
                passing.ask(connects);
                worstConnectNanos = Math.max(worstConnectNanos, System.nanoTime() - start);
                connects++;
                Peers.await(passing.channel.close());
                // Customers come now and then: they are not to be the load themselves.
                Thread.sleep(PAUSE_MILLIS);
            } while (!closing);
        } catch (Throwable t) {
            failure = t;
        }
    }

    private synchronized void answered(long nanos) {
        requests++;
        worstRequestNanos = Math.max(worstRequestNanos, nanos);
        if (timed == requestNanos.length) {
            requestNanos = Arrays.copyOf(requestNanos, 2 * timed);
        }
        requestNanos[timed++] = nanos;
    }

    /** From now on a time is taken. */
    synchronized void beginTime() {
        timed = 0;
    }

    /** One of those that stay. */
    Channel channel() {
        return staying.getFirst().channel;
    }

    /** Whether enough requests have been answered since {@link #beginTime()}. */
    synchronized boolean hasEnough() {
        return timed >= ENOUGH;
    }

    /** Of the requests since {@link #beginTime()}, over connections that stay: what 99 of 100 took at most. */
    synchronized long p99Nanos() {
        assertTrue(hasEnough(), () -> "only " + timed + " requests");
        long[] sorted = Arrays.copyOf(requestNanos, timed);
        Arrays.sort(sorted);
        return sorted[timed * 99 / 100];
    }

    /** How they have been served so far. */
    @Override
    public String toString() {
        return requests + " requests answered, the slowest in " + millis(worstRequestNanos) + " ms; " + connects
                + " connects served, the slowest in " + millis(worstConnectNanos) + " ms";
    }

    private static String millis(long nanos) {
        return String.format("%.1f", nanos / 1e6);
    }

    @Override
    public void close() throws InterruptedException {
        closing = true;
        thread.join(TimeUnit.SECONDS.toMillis(2 * ANSWER_SECONDS));
        assertTrue(!thread.isAlive(), "a customer is still waiting");
        if (failure != null) {
            throw new AssertionError("a customer was not served, after: " + this, failure);
        }
        for (Client client : staying) {
            Peers.await(client.channel.close());
        }
        assertTrue(requests > 0 && connects > 0, this::toString);
    }
}
