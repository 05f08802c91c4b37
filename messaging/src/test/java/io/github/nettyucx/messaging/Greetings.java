// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What docs/messaging.md shows; {@link DocumentedTest} compares and runs it. */
final class Greetings {

    private Greetings() {
    }

    record Greeting(int year, String text) {
    }

    // begin
    static final Codec<Greeting> GREETING = new Codec<>() {
        public int size(Greeting greeting) {
            return 4 + Exporter.sizeOf(greeting.text());
        }

        public void write(Greeting greeting, Exporter out) {
            out.putInt(greeting.year());
            out.putString(greeting.text());
        }

        public Greeting read(Importer in) {
            return new Greeting(in.getInt(), in.getString());
        }
    };
    static final MessageType<Greeting> HELLO = new MessageType<>(1, GREETING);
    static final RequestType<String, Greeting> ASK = new RequestType<>(2, StringCodec.INSTANCE, GREETING);

    static Greeting greet() {
        Map<Integer, SocketAddress> addresses = new ConcurrentHashMap<>();
        try (Node one = Node.builder(1).listen(new InetSocketAddress("localhost", 0)).directory(addresses::get).start();
                Node two = Node.builder(2).listen(new InetSocketAddress("localhost", 0)).directory(addresses::get).start()) {
            addresses.put(1, one.address());
            addresses.put(2, two.address());
            two.onMessage(HELLO, (from, greeting) -> System.out.println(from + " says: " + greeting.text()));
            two.onRequest(ASK, (from, name, responder) -> responder.respond(new Greeting(2026, "Hello, " + name)));

            one.peer(2).send(HELLO, new Greeting(2026, "Good morning"));
            return one.peer(2).request(ASK, "world", Duration.ofSeconds(10));
        }
    }
    // end
}
