// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.NettyServer;
import io.github.nettyucx.examples.RunningServer;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.MessageCodec;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** A broker: one event loop, which does everything, on files of its own. */
public final class LogBroker implements RunningServer {
    private static final long SHUTDOWN_SECONDS = 5;

    private final NettyServer server;
    private final Topics topics;
    private final List<Follower> followers;
    /** {@code null} for a broker that is by itself. */
    private final Leadership leadership;
    private boolean closed;

    private LogBroker(NettyServer server, Topics topics, List<Follower> followers, Leadership leadership) {
        this.server = server;
        this.topics = topics;
        this.followers = followers;
        this.leadership = leadership;
    }

    /**
     * Recovers what there is in the directory, and returns when the broker accepts connections.
     *
     * @throws ExampleFailure saying why, if the files are in use or damaged, or it cannot listen there
     */
    public static LogBroker start(TransportKind transport, HostAndPort address, BrokerSettings settings) {
        transport.ensureAvailable();
        var hasFollowers = settings.cluster() != null || !settings.followers().isEmpty();
        if (transport != TransportKind.UCX && hasFollowers) {
            throw new ExampleFailure("followers need the ucx transport: the leader writes into their memory, and has it for"
                    + " itself. Take it, or have none.");
        }
        var group = transport.newEventLoopGroup(1);
        var loop = group.next();
        var leadership = settings.cluster() == null ? null : new Leadership(settings, transport, loop);
        var rule = leadership == null ? new FixedLeader(settings.minFollowers()) : leadership;
        var patience = new Patience(settings.followerPatience());
        var followers = settings.followers().stream().map(one -> new Follower(transport, one, loop, patience,
                new SameRecords(loop, patience), rule)).toList();
        Topics topics;
        try {
            topics = Topics.open(settings, rule, loop);
        } catch (IOException e) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            throw new ExampleFailure("cannot open the log in " + settings.directory() + ": " + Explanation.of(e), e);
        } catch (RuntimeException e) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            throw e;
        }
        // Before the loop serves anybody.
        if (leadership == null) {
            topics.replicateTo(followers);
        } else {
            leadership.serve(topics);
        }
        LogBroker broker;
        try {
            var server = NettyServer.start(transport, address, group, new ServerBootstrap()
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel connection) {
                            MessageCodec.addTo(connection.pipeline());
                            connection.pipeline().addLast(new BrokerHandler(topics, leadership));
                        }
                    }));
            broker = new LogBroker(server, topics, followers, leadership);
        } catch (RuntimeException e) {
            close(topics);
            throw e;
        }
        try {
            broker.begin();
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
        return broker;
    }

    private void begin() {
        if (leadership != null) {
            leadership.start();
        } else {
            followers.forEach(Follower::start);
        }
    }

    @Override
    public HostAndPort address() {
        return server.address();
    }

    @Override
    public String describe() {
        try {
            return "it is " + (leadership == null ? "by itself" : leadership.describe());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "it is about to end";
        } catch (RejectedExecutionException e) {
            return "it is about to end: its event loop has ended";
        }
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public void awaitStop() throws InterruptedException {
        server.awaitStop();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            if (leadership != null) {
                leadership.leave();
            }
            // Nobody uses the files when the loop has ended.
            server.close();
            followers.forEach(Follower::close);
            if (leadership != null) {
                leadership.close();
            }
            close(topics);
        }
    }

    private static void close(Topics topics) {
        try {
            topics.close();
        } catch (IOException e) {
            System.err.println("the log's files were not closed: " + Explanation.of(e));
        }
    }
}
