// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.IoDriver;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.Starvation;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A program on one of two {@link Hosts}: an echo on the addresses that it is given, and connections to other echoes, all
 * on one loop.
 */
final class NetworkMain {

    private static final long SECONDS = 60;
    private static final long ENDLESS = Long.MAX_VALUE / 2;
    private static final int LARGE = 512 * 1024;

    private final EventLoopGroup group = TestLoops.newGroup(1);
    private final Map<String, Customer> customers = new HashMap<>();
    private final Queue<Ending> accepted = new ConcurrentLinkedQueue<>();
    private final Control control = new Control();
    private final Starvation starvation = new Starvation();
    private ConnectStorm storm;
    private int listeners;

    private NetworkMain() throws Exception {
        starvation.add(group);
    }

    /** @param addresses to listen on */
    public static void main(String[] addresses) throws Exception {
        NetworkMain main = new NetworkMain();
        StringBuilder ports = new StringBuilder("ports");
        for (String address : addresses) {
            ports.append(' ').append(main.listen(address));
        }
        Child.say(ports.toString());
        for (;;) {
            main.obey(Child.nextCommand().split(" "));
        }
    }

    private int listen(String address) throws InterruptedException {
        ChannelInitializer<Channel> child = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                Ending ending = new Ending();
                accepted.add(ending);
                channel.pipeline().addLast(ending, new EchoMain.Echo());
            }
        };
        Channel server = Peers.await(new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(child).bind(InetAddress.ofLiteral(address), 0)).channel();
        listeners++;
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private void obey(String[] words) throws Exception {
        switch (words[0]) {
            case "connect" -> connect(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
            case "idle", "small", "paused", "write" -> customers.get(words[1]).start(words[0], starvation);
            case "large" -> customers.get(words[1]).transfer(ENDLESS);
            case "transfer" -> customers.get(words[1]).await(Long.parseLong(words[2]));
            case "beats" -> customers.get(words[1]).awaitBeats(control);
            case "ended" -> {
                Ending ending = customers.get(words[1]).ending;
                ending.await(Long.parseLong(words[2]));
                Child.say("ended " + end(Long.parseLong(words[3]), ending.endedNanos) + ' ' + ending);
            }
            case "close" -> {
                Customer customer = customers.remove(words[1]);
                customer.close();
                Child.say("closed " + customer.ending);
            }
            case "depart" -> customers.get(words[1]).depart();
            case "failures" -> Child.say("failures " + TestLoops.driver(TestLoops.first(group)).metrics()
                    .handshakesFailed(HandshakeFailure.valueOf(words[1])));
            case "storm" -> {
                storm = new ConnectStorm(bootstrap(Integer.parseInt(words[3])).handler(newInitializer(Ending::new)),
                        new InetSocketAddress(InetAddress.ofLiteral(words[1]), Integer.parseInt(words[2])), control);
                storm.begin(SECONDS);
                Child.say("storming");
            }
            case "calm" -> Child.say("calm " + storm.awaitEnd(SECONDS));
            case "forsaken" -> Child.say("forsaken " + awaitForsaken(Long.parseLong(words[1]), Long.parseLong(words[2])));
            case "accepted" -> Child.say("accepted " + awaitAccepted(Long.parseLong(words[1]), Long.parseLong(words[2])));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private void connect(String name, String address, int port, int timeoutMillis) throws InterruptedException {
        Customer customer = new Customer();
        long start = System.nanoTime();
        ChannelFuture connect = bootstrap(timeoutMillis).handler(customer.initializer())
                .connect(InetAddress.ofLiteral(address), port).await();
        long end = System.nanoTime();
        String said = "connected " + TimeUnit.NANOSECONDS.toMillis(end - start) + ' '
                + TimeUnit.NANOSECONDS.toMillis(control.heldUp(start, end)) + ' ';
        if (connect.isSuccess()) {
            customers.put(name, customer);
            customer.channel = (UcxSocketChannel) connect.channel();
            Child.say(said + customer.channel.lane());
        } else {
            Child.say(said + connect.cause().toString().replace('\n', ' '));
        }
    }

    private Bootstrap bootstrap(int timeoutMillis) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis);
    }

    private static ChannelInitializer<Channel> newInitializer(Supplier<ChannelHandler> handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel initialized) {
                initialized.pipeline().addLast(handlers.get());
            }
        };
    }

    /** @return when that was, and for how many nanoseconds since it was due this process stood still */
    private String end(long due, long ended) {
        return ended + " " + control.heldUp(due, ended);
    }

    /** @return the {@link #end} of the last connection, a channel or one of UCX, if none is left, and how many are left */
    private String awaitForsaken(long millis, long due) throws InterruptedException, ExecutionException {
        EventLoop loop = TestLoops.first(group);
        IoDriver driver = TestLoops.driver(loop);
        long start = System.nanoTime();
        for (;;) {
            long left = driver.metrics().endpoints() + loop.submit(driver::channelCount).get() - listeners;
            if (left == 0) {
                return end(due, System.nanoTime()) + " 0";
            }
            if (Hosts.millisSince(start) >= millis) {
                return "0 0 " + left;
            }
            // Between two looks, within a limit.
            Thread.sleep(2);
        }
    }

    /** How all connections accepted so far have ended: the {@link #end} of the last one, and in what way each. */
    private String awaitAccepted(long millis, long due) throws InterruptedException {
        long last = 0;
        StringBuilder ends = new StringBuilder();
        for (Ending ending : accepted) {
            ending.await(millis);
            last = Math.max(last, ending.endedNanos);
            ends.append(ends.isEmpty() ? "" : ", ").append(ending);
        }
        accepted.clear();
        return end(due, last) + ' ' + ends;
    }

    /** One connection, and what is done over it. */
    private static final class Customer {

        private final Ending ending = new Ending();
        private final Checked checked = new Checked();
        private UcxSocketChannel channel;
        private Heartbeat heartbeat;
        private StreamSender sender;

        ChannelHandler initializer() {
            return newInitializer(() -> ending);
        }

        void start(String what, Starvation loop) {
            switch (what) {
                case "small" -> {
                    heartbeat = new Heartbeat("small", 16);
                    heartbeat.keptBy(loop);
                    channel.eventLoop().execute(() -> {
                        channel.pipeline().addLast(heartbeat);
                        heartbeat.channelActive(channel.pipeline().context(heartbeat));
                    });
                }
                case "paused" -> channel.config().setAutoRead(false);
                case "write" -> channel.writeAndFlush(Unpooled.copyInt(1));
                default -> {
                    // Nothing goes over it.
                }
            }
            Child.say("started");
        }

        void transfer(long total) {
            sender = new StreamSender(total, LARGE, new SplittableRandom(total));
            channel.eventLoop().execute(() -> {
                channel.pipeline().addLast(sender, checked);
                sender.start();
            });
            Child.say("started");
        }

        void await(long total) throws InterruptedException {
            transfer(total);
            long start = System.nanoTime();
            while (checked.position < total && Hosts.millisSince(start) < TimeUnit.SECONDS.toMillis(SECONDS)) {
                // Between two looks, within a limit.
                Thread.sleep(2);
            }
            Child.say("transferred " + Hosts.millisSince(start) + ' ' + checked.position);
        }

        /** Waits until something comes back once more. Of the waits until then the machine may explain a part. */
        void awaitBeats(Control control) throws InterruptedException {
            long beats = heartbeat == null ? 0 : heartbeat.beats();
            long position = checked.position;
            long start = System.nanoTime();
            while (heartbeat == null ? checked.position <= position : heartbeat.beats() < beats + 3) {
                if (Hosts.millisSince(start) > TimeUnit.SECONDS.toMillis(SECONDS)) {
                    Child.say("wrong: nothing comes back: " + ending);
                    return;
                }
                // Between two looks, within a limit.
                Thread.sleep(2);
            }
            long longest = 0;
            if (heartbeat != null) {
                heartbeat.check();
                longest = heartbeat.gaps().stream().mapToLong(gap -> Pulse.stall(gap, gap, control.gaps())).max()
                        .orElse(0);
            }
            Child.say("beats " + TimeUnit.NANOSECONDS.toMillis(longest));
        }

        /** Closes while something is under way, which goes on in the background. */
        void depart() throws InterruptedException {
            Peers.await(channel.close());
            Child.say("departed");
        }

        void close() throws InterruptedException {
            if (heartbeat != null) {
                heartbeat.end();
            }
            Peers.await(channel.close());
            // It is told of that a little later.
            ending.await(TimeUnit.SECONDS.toMillis(SECONDS));
        }
    }

    /** When a connection has ended, and why: what does not read is told by its writes alone. */
    private static final class Ending extends ChannelDuplexHandler {

        private volatile Throwable cause;
        private volatile long endedNanos;

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable caught) {
            cause = caught;
            context.fireExceptionCaught(caught);
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            context.write(message, promise).addListener(done -> {
                if (done.cause() != null && !(done.cause() instanceof ClosedChannelException)) {
                    cause = done.cause();
                }
            });
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            endedNanos = System.nanoTime();
            context.fireChannelInactive();
        }

        void await(long millis) throws InterruptedException {
            long start = System.nanoTime();
            while (endedNanos == 0 && Hosts.millisSince(start) < millis) {
                // Between two looks, within a limit.
                Thread.sleep(2);
            }
        }

        @Override
        public String toString() {
            return endedNanos == 0 ? "still there" : cause == null ? "in order" : cause.toString();
        }
    }

    /** What comes back has to be what {@link StreamSender} has sent. */
    private static final class Checked extends ChannelInboundHandlerAdapter {

        private final SeededBytes bytes = new SeededBytes(StreamSender.SEED);
        private volatile long position;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int length = buffer.readableBytes();
            try {
                bytes.check(position, buffer);
            } catch (AssertionError e) {
                Child.say("wrong " + e.getMessage());
            } finally {
                buffer.release();
            }
            position += length;
        }
    }
}
