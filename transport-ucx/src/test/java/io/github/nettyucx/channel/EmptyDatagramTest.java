// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What anybody of this host can send to the sockets by which UCX's shared memory wakes sleepers. Over other lanes there are
 * none. A process that UCX ends takes its JVM with it.
 */
@OwnJvm
class EmptyDatagramTest {

    private static final int ROUNDS = 20;
    private static final int WORKERS = 5;
    private static final int BYTES = 100;
    private static final long SECONDS = 15;
    private static final Pattern AUTOBOUND = Pattern.compile("(\\d+) @([0-9a-f]{5})$", Pattern.MULTILINE);
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MSG_DONTWAIT = 0x40;

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    /** Counts bytes; tells the end by -1. */
    private static final class Answers extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Integer> bytes = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes.add(((ByteBuf) message).readableBytes());
            ((ByteBuf) message).release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            bytes.add(-1);
        }
    }

    @OnEachLane(lanes = Lane.SHM)
    void emptyDatagramsOfStrangersEndNoConnectionAndNoProcess() throws Exception {
        exchangeWhileStrangersSend(0);
    }

    /** They wake a loop, as a peer does, and there is nothing for it to do. */
    @OnEachLane(lanes = Lane.SHM)
    void norDoOthers() throws Exception {
        exchangeWhileStrangersSend(1);
    }

    /** Nobody can be faster than they are there. */
    @OnEachLane(lanes = Lane.SHM)
    void norDoEmptyOnesWhileWorkersAreMade() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Integer> stranger = new FutureTask<>(() -> {
            int sent = 0;
            while (!over.get()) {
                for (String name : ownNames()) {
                    sent += send(name, 0) == 0 ? 1 : 0;
                }
            }
            return sent;
        });
        Thread.ofPlatform().daemon().start(stranger);
        try {
            for (int i = 0; i < WORKERS; i++) {
                try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
                    Answers answers = new Answers();
                    UcxSocketChannel client = peers.connect(peers.listen(Echo::new), answers);
                    exchange(client, answers);
                    assertTrue(Lane.SHM.has(client.lane()), client::lane);
                }
            }
        } finally {
            over.set(true);
        }
        assertTrue(stranger.get(SECONDS, TimeUnit.SECONDS) > WORKERS);
    }

    private static void exchangeWhileStrangersSend(int length) throws Exception {
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            UcxServerSocketChannel server = peers.listen(Echo::new);
            Answers answers = new Answers();
            UcxSocketChannel client = peers.connect(server, answers);
            exchange(client, answers);
            assertTrue(Lane.SHM.has(client.lane()), client::lane);
            // Of each side's worker, which may be one for all of UCX's transports or have one for each.
            Set<String> names = ownNames();
            assertTrue(names.size() >= 2, names::toString);
            for (int round = 0; round < ROUNDS; round++) {
                for (String name : names) {
                    // The loop may not have taken the last ones yet; of empty ones there are none.
                    assertTrue(send(name, length) == length || length > 0, "not sent");
                }
                exchange(client, answers);
            }
            assertEquals(names, ownNames(), "a worker has been replaced");
        }
    }

    private static void exchange(UcxSocketChannel client, Answers answers) throws InterruptedException {
        Peers.await(client.writeAndFlush(Unpooled.wrappedBuffer(new byte[BYTES])));
        for (int bytes = 0; bytes < BYTES;) {
            Integer more = answers.bytes.poll(SECONDS, TimeUnit.SECONDS);
            assertTrue(more != null, "no answer");
            assertTrue(more >= 0, "the connection has ended");
            bytes += more;
        }
    }

    /** Those of this process, and of nobody else. */
    private static Set<String> ownNames() throws IOException {
        Set<String> inodes = OwnProcess.sockets();
        Set<String> names = new HashSet<>();
        Matcher sockets = AUTOBOUND.matcher(Files.readString(Path.of("/proc/net/unix")));
        while (sockets.find()) {
            if (inodes.contains(sockets.group(1))) {
                names.add(sockets.group(2));
            }
        }
        return names;
    }

    /** Java has no datagrams of this kind. @return how many bytes were sent, negative if it failed */
    private static int send(String name, int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(2 + 1 + name.length(), 8);
            address.set(JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(name.getBytes(StandardCharsets.US_ASCII), 0, address, JAVA_BYTE, 3, name.length());
            int socket = (int) function("socket", JAVA_INT, JAVA_INT, JAVA_INT).invokeExact(AF_UNIX, SOCK_DGRAM, 0);
            assertTrue(socket >= 0, "no socket");
            int sent = (int) function("sendto", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT)
                    .invokeExact(socket, address.address(), (long) length, MSG_DONTWAIT, address.address(),
                            (int) address.byteSize());
            int closed = (int) function("close", JAVA_INT).invokeExact(socket);
            assertEquals(0, closed);
            return sent;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(JAVA_INT, arguments));
    }
}
