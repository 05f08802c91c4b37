// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** A DNS server on this host, for which every name is that of 127.0.0.1, and of no IPv6 address. */
final class NameServer implements AutoCloseable {

    private static final int HEADER = 12;
    private static final short RECURSIVE_ANSWER = (short) 0x8180;
    /** Where the question's name stands. */
    private static final short NAME_POINTER = (short) 0xC000 | HEADER;
    private static final short TYPE_A = 1;
    private static final short CLASS_IN = 1;

    private final DatagramSocket socket = new DatagramSocket(0, InetAddress.getByName("127.0.0.1"));
    private final AtomicInteger questions = new AtomicInteger();

    NameServer() throws IOException {
        Thread thread = new Thread(this::serve, "name-server");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return socket.getLocalPort();
    }

    int questions() {
        return questions.get();
    }

    private void serve() {
        DatagramPacket packet = new DatagramPacket(new byte[512], 512);
        try {
            while (true) {
                packet.setLength(512);
                socket.receive(packet);
                questions.incrementAndGet();
                byte[] answer = answer(ByteBuffer.wrap(packet.getData(), 0, packet.getLength()));
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            }
        } catch (IOException e) {
            // Closed; a question without an answer fails the test.
        }
    }

    /** The question, and what belongs to it; other sections of the query are left out. */
    private static byte[] answer(ByteBuffer query) {
        int end = HEADER;
        while (query.get(end) != 0) {
            end += query.get(end) + 1;
        }
        boolean ipv4 = query.getShort(end + 1) == TYPE_A;
        end += 5;
        ByteBuffer answer = ByteBuffer.allocate(512);
        answer.putShort(query.getShort(0)).putShort(RECURSIVE_ANSWER);
        answer.putShort((short) 1).putShort((short) (ipv4 ? 1 : 0)).putShort((short) 0).putShort((short) 0);
        answer.put(query.array(), HEADER, end - HEADER);
        if (ipv4) {
            answer.putShort(NAME_POINTER).putShort(TYPE_A).putShort(CLASS_IN).putInt(60);
            answer.putShort((short) 4).put(new byte[] {127, 0, 0, 1});
        }
        byte[] bytes = new byte[answer.position()];
        answer.flip().get(bytes);
        return bytes;
    }

    @Override
    public void close() {
        socket.close();
    }
}
