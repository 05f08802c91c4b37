// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.DefaultFileRegion;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Files for peers that do not read, or not yet: what one loop takes for them has a bound. */
@OwnJvm
class SlowFileReadersTest {

    private static final long SEED = 4711;
    private static final int LENGTH = 2 * 1024 * 1024;
    /** Of the kernel, for each socket: far less than a file. */
    private static final int BUFFER = 64 * 1024;
    private static final int CHANNELS = 64;
    private static final int PIPES = 16;
    private static final int DESCRIPTORS_OF_PIPE = 3;
    private static final int SECONDS = 30;

    private final List<Channel> children = new CopyOnWriteArrayList<>();
    private final List<StreamReader> readers = new CopyOnWriteArrayList<>();

    @OnEachLane
    void filesThatWaitTakeFewDescriptorsAndArriveInTheEnd() throws Exception {
        Path path = Files.createTempFile("netty-ucx-", ".test");
        try (HandlerPeers peers = new HandlerPeers()) {
            Files.write(path, new SeededBytes(SEED).at(0, LENGTH));
            Channel server = peers.listen(this::addReader);
            // Whatever the first file takes for good.
            List<DefaultFileRegion> files = new ArrayList<>();
            List<UcxSocketChannel> clients = new ArrayList<>();
            List<ChannelFuture> writes = new ArrayList<>();
            send(peers, server, path, files, clients, writes, 1);
            awaitFiles(clients, writes);

            TestLoops.openTimers(server.eventLoop().parent(), clients.getFirst().eventLoop().parent());
            int before = OwnProcess.openDescriptors();
            send(peers, server, path, files, clients, writes, CHANNELS);
            int[] waiting = new int[1];
            Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "not all files wait for their readers", () ->
                    clients.getFirst().eventLoop().submit(() -> {
                        waiting[0] = OwnProcess.openDescriptors();
                        return allWait(files, clients);
                    }).get());
            // A socket at each end, and the file.
            int most = 3 * CHANNELS + PIPES * DESCRIPTORS_OF_PIPE;
            assertTrue(waiting[0] - before <= most,
                    () -> waiting[0] - before + " descriptors for " + CHANNELS + " files, " + most + " expected");
            awaitFiles(clients, writes);
        } finally {
            Files.delete(path);
        }
    }

    private void addReader(ChannelPipeline pipeline) {
        StreamReader reader = new StreamReader(SEED, LENGTH, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
        pipeline.channel().config().setAutoRead(false);
        pipeline.channel().config().setOption(ChannelOption.SO_RCVBUF, BUFFER);
        pipeline.addLast(reader);
        readers.add(reader);
        children.add(pipeline.channel());
    }

    /** From one loop, to readers that do not read. */
    private static void send(HandlerPeers peers, Channel server, Path path, List<DefaultFileRegion> files,
                             List<UcxSocketChannel> clients, List<ChannelFuture> writes, int count) throws Exception {
        files.clear();
        clients.clear();
        writes.clear();
        for (int i = 0; i < count; i++) {
            UcxSocketChannel client = peers.connect(server,
                    pipeline -> pipeline.channel().config().setOption(ChannelOption.SO_SNDBUF, BUFFER));
            DefaultFileRegion file = new DefaultFileRegion(path.toFile(), 0, LENGTH);
            clients.add(client);
            files.add(file);
            writes.add(client.writeAndFlush(file));
        }
    }

    /**
     * Whether more has been taken from files than there is room for: from each that is sent by a socket, and over links from
     * those in pipes. Asked by the loop of the clients.
     */
    private static boolean allWait(List<DefaultFileRegion> files, List<UcxSocketChannel> clients) {
        int waiting = 0;
        for (int i = 0; i < files.size(); i++) {
            if (files.get(i).transferred() > clients.get(i).metrics().bytesSent()) {
                waiting++;
            } else if (files.get(i).transferred() == 0) {
                return false;
            }
        }
        return waiting == (Lane.current().isLink() ? PIPES : CHANNELS);
    }

    private void awaitFiles(List<UcxSocketChannel> clients, List<ChannelFuture> writes) throws Exception {
        for (Channel child : children) {
            child.config().setAutoRead(true);
        }
        for (int i = 0; i < clients.size(); i++) {
            Peers.await(writes.get(i));
            Peers.await(clients.get(i).close());
        }
        for (StreamReader reader : readers) {
            reader.ended().get(SECONDS, TimeUnit.SECONDS);
        }
    }
}
