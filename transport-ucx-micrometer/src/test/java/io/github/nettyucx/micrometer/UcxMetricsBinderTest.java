// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.micrometer;

import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(120)
class UcxMetricsBinderTest {

    private static final int LENGTH = 1000;

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private Conversation conversation;

    @BeforeEach
    void startLoops() throws InterruptedException {
        conversation = new Conversation();
    }

    @AfterEach
    void endLoops() throws InterruptedException {
        conversation.close();
    }

    private RequiredSearch meter(String name, String... tags) {
        return registry.get("netty.ucx." + name).tags(tags);
    }

    /** Waits for the next snapshot, and for what loops do in their own time. */
    private static void awaitValue(double expected, DoubleSupplier value) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (value.getAsDouble() != expected && System.nanoTime() - deadline < 0) {
            // Polls for the work of another thread.
            Thread.sleep(20);
        }
        assertEquals(expected, value.getAsDouble());
    }

    @Test
    void countsWhatTheGroupCounts() throws Exception {
        UcxSocketChannel channel = conversation.exchange(LENGTH);
        try (UcxMetricsBinder binder = new UcxMetricsBinder(conversation.clients)) {
            binder.bindTo(registry);
            String lane = channel.lane();
            assertEquals(LENGTH, meter("bytes", "lane", lane, "direction", "sent").functionCounter().count());
            assertEquals(LENGTH, meter("bytes", "lane", lane, "direction", "received").functionCounter().count());
            assertEquals(1, meter("messages", "lane", lane, "direction", "sent", "size", "4096")
                    .functionCounter().count());
            assertEquals(0, meter("messages", "lane", lane, "direction", "sent", "size", "512")
                    .functionCounter().count());
            assertEquals(1, meter("connections", "lane", lane).gauge().value());
            assertEquals(1, meter("endpoints").gauge().value());
            assertTrue(meter("progress.calls").functionCounter().count() > 0);
            Conversation.await(channel.close());
            awaitValue(1, () -> meter("connections.closed", "reason", "orderly").functionCounter().count());
            awaitValue(0, () -> meter("connections", "lane", lane).gauge().value());
        }
    }

    /** Everything that is in the snapshot, and not only what the other tests look at. */
    @Test
    void leavesNothingOut() throws Exception {
        UcxSocketChannel channel = conversation.exchange(LENGTH);
        Conversation.await(channel.close());
        conversation.close();
        UcxMetrics metrics = conversation.clients.metrics();
        new UcxMetricsBinder(() -> metrics, Tags.empty()).bindTo(registry);
        assertEquals(metrics.traffic().messagesReceived(), sum("messages", "direction", "received"));
        assertEquals(metrics.traffic().messagesSent(), sum("messages", "direction", "sent"));
        assertEquals(metrics.traffic().sendsDeferred(), sum("messages.deferred", "direction", "sent"));
        assertEquals(metrics.traffic().receivesDeferred(), sum("messages.deferred", "direction", "received"));
        assertEquals(metrics.traffic().messagesGathered(), sum("messages.gathered"));
        assertEquals(metrics.traffic().buffersGathered(), sum("buffers.gathered"));
        assertEquals(metrics.traffic().creditWaits(), sum("credit.waits"));
        assertEquals(metrics.traffic().creditMessagesSent(), sum("credit.messages", "direction", "sent"));
        assertEquals(metrics.traffic().creditMessagesReceived(), sum("credit.messages", "direction", "received"));
        assertEquals(metrics.traffic().connectionsOpened(), sum("connections.opened"));
        assertEquals(metrics.traffic().connectionsClosed(), sum("connections.closed"));
        assertEquals(metrics.handshakesFailed(), sum("handshakes.failed"));
        assertEquals(metrics.strangersTurnedAway(), sum("strangers"));
        assertEquals(metrics.messagesForUnknownChannels(), sum("messages.unknown"));
        assertEquals(metrics.progressCalls(), sum("progress.calls"));
        assertEquals(metrics.progressCallsWithWork(), sum("progress.worked"));
        assertEquals(metrics.parks(), sum("parks"));
        assertEquals(metrics.parksRefused(), sum("parks.refused"));
        assertEquals(metrics.wakeups(), sum("wakeups"));
    }

    private double sum(String name, String... tags) {
        return meter(name, tags).functionCounters().stream().mapToDouble(FunctionCounter::count).sum();
    }

    @Test
    void aLaneThatComesLaterGetsItsMeters() throws Exception {
        new UcxMetricsBinder(conversation.clients).bindTo(registry);
        assertNull(registry.find("netty.ucx.bytes").functionCounter());
        UcxSocketChannel channel = conversation.exchange(LENGTH);
        awaitValue(1, () -> {
            meter("progress.calls").functionCounter().count();
            return registry.find("netty.ucx.bytes").tags("lane", channel.lane(), "direction", "sent")
                    .functionCounters().size();
        });
        awaitValue(LENGTH, () -> meter("bytes", "lane", channel.lane(), "direction", "sent").functionCounter().count());
    }

    @Test
    void aRegistryThatDoesNotTakeThemIsNoReasonForTheOthersNotToHaveThem() throws Exception {
        UcxMetricsBinder binder = new UcxMetricsBinder(conversation.clients);
        MeterRegistry refusing = new SimpleMeterRegistry();
        refusing.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                if (id.getTag("lane") != null) {
                    throw new IllegalArgumentException("for a test");
                }
                return MeterFilterReply.NEUTRAL;
            }
        });
        binder.bindTo(refusing);
        binder.bindTo(registry);
        UcxSocketChannel channel = conversation.exchange(LENGTH);
        awaitValue(1, () -> {
            meter("progress.calls").functionCounter().count();
            return registry.find("netty.ucx.bytes").tags("lane", channel.lane(), "direction", "sent")
                    .functionCounters().size();
        });
    }

    @Test
    void goesOnWhenNobodyKeepsTheBinder() throws Exception {
        new UcxMetricsBinder(conversation.clients).bindTo(registry);
        System.gc();
        conversation.exchange(LENGTH);
        awaitValue(1, () -> meter("endpoints").gauge().value());
        assertTrue(meter("progress.worked").functionCounter().count() > 0);
    }

    @Test
    void groupsAreToldApartByTags() throws Exception {
        new UcxMetricsBinder(conversation.clients, Tags.of("group", "clients")).bindTo(registry);
        new UcxMetricsBinder(conversation.servers, Tags.of("group", "servers")).bindTo(registry);
        UcxSocketChannel channel = conversation.exchange(LENGTH);
        channel.config().setSoLinger(0);
        Conversation.await(channel.close());
        awaitValue(1, () -> meter("connections.closed", "group", "clients", "reason", "aborted")
                .functionCounter().count());
        awaitValue(1, () -> meter("connections.closed", "group", "servers", "reason", "reset_by_peer")
                .functionCounter().count());
    }

    @Test
    void closingItRemovesItsMeters() throws Exception {
        UcxMetricsBinder binder = new UcxMetricsBinder(conversation.clients);
        binder.bindTo(registry);
        conversation.exchange(LENGTH);
        assertNotNull(registry.find("netty.ucx.workers").gauge());
        binder.close();
        assertEquals(List.<Meter>of(), registry.getMeters());
    }
}
