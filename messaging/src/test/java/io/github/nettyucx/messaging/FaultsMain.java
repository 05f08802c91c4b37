// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * A node that is going to be killed. It counts how often each message has come in a mapped file, which outlives it, and
 * answers requests with their number.
 */
final class FaultsMain {

    static final int PORT_AT = 0;
    static final int COUNTS_AT = 8;
    static final Codec<long[]> NUMBERS = new Codec<>() {
        @Override
        public int size(long[] message) {
            return Exporter.sizeOf(message);
        }

        @Override
        public void write(long[] message, Exporter out) {
            out.putLongs(message);
        }

        @Override
        public long[] read(Importer in) {
            return in.getLongs();
        }
    };
    static final MessageType<long[]> MESSAGE = new MessageType<>(1, NUMBERS);
    static final RequestType<long[], long[]> REQUEST = new RequestType<>(2, NUMBERS, NUMBERS);

    private FaultsMain() {
    }

    /** @param args the file, its size, and the port, or 0 for one that is free */
    public static void main(String[] args) throws Exception {
        MappedByteBuffer file;
        try (var random = new RandomAccessFile(args[0], "rw")) {
            file = random.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, Long.parseLong(args[1]));
        }
        Node node = Node.builder(2).listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[2])))
                .start();
        node.onMessage(MESSAGE, (from, message) -> {
            int at = COUNTS_AT + (int) message[0];
            file.put(at, (byte) (file.get(at) + 1));
        });
        node.onRequest(REQUEST, (from, request, responder) -> responder.respond(new long[] {request[0]}));
        file.putInt(PORT_AT, ((InetSocketAddress) node.address()).getPort());
        // Ends with whoever has started it.
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        Runtime.getRuntime().halt(0);
    }
}
