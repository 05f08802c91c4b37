// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import jdk.jfr.Configuration;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A flight recording tells of connections, and of sleeping loops if it is asked to. */
class FlightEventsTest {

    /** What the tests' libraries need; without java.se there is no jdk.jfr. */
    private static final String MODULES = "java.logging,java.management,java.naming,java.xml,jdk.unsupported";
    private static final String PREFIX = "io.github.nettyucx.";

    @TempDir
    private Path directory;

    /** The channel that was connected to a server and closed again. */
    private static UcxSocketChannel converse() throws Exception {
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            Inbox inbox = new Inbox();
            UcxServerSocketChannel server = peers.listen(() -> inbox);
            UcxSocketChannel client = peers.connect(server, new Inbox());
            Peers.await(client.writeAndFlush(Unpooled.directBuffer().writeBytes(new byte[] {'a', 'b', 'c'})));
            inbox.awaitText("abc");
            IoDriver driver = TestLoops.driver(client.eventLoop());
            // The loop's clock began at 0: only one that is awake looks at its timers by then.
            Eventually.await(15_000, () -> "the loop does not sleep", () -> !driver.wakesBefore(0));
            // Much longer than the sleeps that are recorded, and less than the second after which a loop of Netty 4.2 wakes.
            Thread.sleep(500);
            Peers.await(client.close());
            inbox.awaitInactive();
            InetSocketAddress address = server.localAddress();
            Peers.await(server.close());
            Peers.awaitFailure(peers.client(new Inbox()).connect(address));
            return client;
        }
    }

    private List<RecordedEvent> record(Recording recording) throws Exception {
        Path file = directory.resolve("recording.jfr");
        recording.stop();
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals(PREFIX + name)).toList();
    }

    @Test
    void aRecordingTellsOfConnections() throws Exception {
        try (Recording recording = new Recording(Configuration.getConfiguration("default"))) {
            recording.start();
            UcxSocketChannel client = converse();
            List<RecordedEvent> events = record(recording);

            List<RecordedEvent> opened = named(events, "ConnectionOpened");
            assertEquals(2, opened.size());
            RecordedEvent open = of(opened, client);
            assertEquals(client.localAddress().toString(), open.getString("local"));
            assertEquals(client.remoteAddress().toString(), open.getString("remote"));
            assertEquals(client.lane(), open.getString("lane"));
            assertEquals(String.join(",", client.transports()), open.getString("transports"));
            assertFalse(open.getBoolean("accepted"));
            assertEquals(1, opened.stream().filter(event -> event.getBoolean("accepted")).count());

            List<RecordedEvent> closed = named(events, "ConnectionClosed");
            assertEquals(2, closed.size());
            RecordedEvent end = of(closed, client);
            assertEquals("ORDERLY", end.getString("reason"));
            assertEquals(client.lane(), end.getString("lane"));
            assertEquals(3, end.getLong("bytesSent"));
            assertEquals(1, end.getLong("messagesSent"));
            assertEquals(0, end.getLong("bytesReceived"));
            assertEquals(0, end.getLong("messagesReceived"));
            assertEquals(0, end.getLong("creditWaits"));
            Duration openFor = end.getDuration("openFor");
            assertTrue(openFor.toMillis() >= 100 && openFor.toMinutes() < 1, openFor::toString);

            List<RecordedEvent> failed = named(events, "HandshakeFailed");
            assertEquals(1, failed.size());
            assertEquals("REFUSED", failed.getFirst().getString("reason"));
            assertEquals(client.remoteAddress().toString(), failed.getFirst().getString("remote"));
            assertTrue(failed.getFirst().getString("cause").contains("refused"), failed::toString);
            assertFalse(failed.getFirst().getBoolean("accepted"));

            assertEquals(List.of(), named(events, "LoopParked"), "has to be asked for");
        }
    }

    private static RecordedEvent of(List<RecordedEvent> events, Channel channel) {
        return events.stream().filter(event -> event.getString("channel").equals(channel.id().asShortText()))
                .findFirst().orElseThrow(() -> new AssertionError("no event of " + channel + ": " + events));
    }

    @Test
    void aRecordingThatIsAskedToTellsOfLongSleeps() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(PREFIX + "LoopParked").withThreshold(Duration.ofMillis(50));
            recording.start();
            converse();
            List<RecordedEvent> parked = named(record(recording), "LoopParked");
            assertFalse(parked.isEmpty());
            for (RecordedEvent event : parked) {
                assertTrue(event.getDuration().toNanos() >= TimeUnit.MILLISECONDS.toNanos(50), event::toString);
            }
            assertTrue(parked.stream().anyMatch(event -> event.getBoolean("woken")), "the close woke the loop");
        }
    }

    /** As in a runtime that {@code jlink} has made without it. */
    @Test
    void noFlightRecorderIsNeeded() throws Exception {
        String output = OneConnectionMain.run("--limit-modules", MODULES);
        assertTrue(output.contains(OneConnectionMain.NO_FLIGHT_RECORDER), output);
    }

    /** They are known to the recorder, with what its users are shown, as soon as a loop has been made. */
    @Test
    void everyEventHasALabelAndACategory() throws Exception {
        converse();
        List<EventType> types = FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .filter(type -> type.getName().startsWith(PREFIX)).toList();
        assertEquals(4, types.size(), types::toString);
        for (EventType type : types) {
            assertEquals(List.of("Netty UCX"), type.getCategoryNames());
            assertTrue(type.getLabel().startsWith("UCX "), type::getLabel);
            type.getFields().forEach(field -> assertTrue(field.getLabel() != null, field::getName));
        }
    }
}
