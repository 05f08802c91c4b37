// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The programs of docs/one-sided.md do what the page says. */
class OneSidedPageTest {

    private static final Path ROOT = Path.of(Files.exists(Path.of("docs")) ? "." : "..");
    private static final Path SOURCE = Path.of(
            "transport-ucx/src/test/java/io/github/nettyucx/channel/OneSidedPageTest.java");

    private final CompletableFuture<String> read = new CompletableFuture<>();

    // begin
    final class Owner extends ChannelInboundHandlerAdapter {
        private final UcxMemory memory = UcxMemory.allocate(1 << 20, UcxMemoryRight.WRITE, UcxMemoryRight.ATOMIC);

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(memory.exportKey()));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof UcxMemoryNotification put) {
                byte[] bytes = memory.segment().asSlice(put.offset(), put.length()).toArray(ValueLayout.JAVA_BYTE);
                read.complete(put.value() + ": " + new String(bytes, StandardCharsets.UTF_8));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            memory.close();
        }
    }

    final class Peer extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf key) {
            UcxSocketChannel channel = (UcxSocketChannel) context.channel();
            channel.openMemory(ByteBufUtil.getBytes(key)).addListener(opened -> {
                UcxRemoteMemory remote = (UcxRemoteMemory) opened.get();
                remote.fetchAndAdd(0, 16).addListener(reserved -> {
                    long offset = 8 + (long) reserved.get();
                    remote.putAndNotify(offset, Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8), 42);
                });
            });
        }
    }
    // end

    @OnEachLane(linksOnly = true)
    void theProgramOfThePageRuns() throws Exception {
        try (Peers peers = new Peers()) {
            peers.connect(peers.listen(Owner::new), new Peer());
            assertEquals("42: hello", read.get(MemoryPair.SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void thePageHasTheProgramThatIsRun() throws IOException {
        List<String> source = Files.readAllLines(ROOT.resolve(SOURCE));
        List<String> program = source.subList(source.indexOf("    // begin") + 1, source.indexOf("    // end"));
        String expected = String.join("\n", program.stream().map(line -> line.substring(Math.min(4, line.length())))
                .toList());
        assertTrue(Files.readString(ROOT.resolve("docs/one-sided.md")).contains("```java\n" + expected + "\n```"),
                () -> "the page does not have:\n" + expected);
    }
}
