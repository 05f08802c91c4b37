// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.micrometer;

import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.channel.UcxTraffic;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.SizeClass;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The meters of a binder in one registry. */
final class BoundMeters {

    private static final String PREFIX = "netty.ucx.";

    private final MeterRegistry registry;
    private final List<Tag> tags;
    private final Supplier<UcxMetrics> current;
    private final Set<String> lanes = ConcurrentHashMap.newKeySet();
    private final Set<Meter> meters = new HashSet<>();
    private boolean removed;

    BoundMeters(MeterRegistry registry, List<Tag> tags, Supplier<UcxMetrics> current) {
        this.registry = registry;
        this.tags = tags;
        this.current = current;
    }

    // ------------------------------------------------------------------------------------------- which there are

    void addLoops() {
        for (HandshakeFailure reason : HandshakeFailure.values()) {
            counter("handshakes.failed", null, "Connections that were not made",
                    metrics -> metrics.handshakesFailed(reason), "reason", label(reason));
        }
        for (CloseReason reason : CloseReason.values()) {
            counter("connections.closed", null, "Connections that had been open and are closed",
                    metrics -> metrics.connectionsClosed(reason), "reason", label(reason));
        }
        counter("strangers", null, "Accepted connections that ended in the handshake by the client's doing",
                UcxMetrics::strangersTurnedAway);
        counter("messages.unknown", null, "Messages for channels that nobody has",
                UcxMetrics::messagesForUnknownChannels);
        counter("progress.calls", null, "Calls of ucp_worker_progress", UcxMetrics::progressCalls);
        counter("progress.worked", null, "Calls of ucp_worker_progress that did something",
                UcxMetrics::progressCallsWithWork);
        counter("parks", null, "How often a loop has gone to sleep", UcxMetrics::parks);
        counter("parks.refused", null, "How often UCX did not let a loop sleep", UcxMetrics::parksRefused);
        counter("wakeups", null, "Sleeps that another thread ended", UcxMetrics::wakeups);
        gauge("operations", null, "Operations that UCX has not completed", UcxMetrics::operationsInFlight);
        gauge("endpoints", null, "UCX endpoints", UcxMetrics::endpoints);
        gauge("workers", null, "UCX workers", UcxMetrics::workers);
        gauge("send.buffers", "bytes", "Memory of the buffers that small writes are gathered in",
                UcxMetrics::sendBufferBytes);
    }

    /** Does nothing if the lane is there already. Any thread may call. */
    void addLane(String lane) {
        if (!lanes.add(lane)) {
            return;
        }
        traffic(lane, "bytes", "bytes", "Bytes of the connections' streams", UcxTraffic::bytesSent,
                "direction", "sent");
        traffic(lane, "bytes", "bytes", "Bytes of the connections' streams", UcxTraffic::bytesReceived,
                "direction", "received");
        for (SizeClass size : SizeClass.values()) {
            traffic(lane, "messages", null, "Messages with bytes of the connections' streams",
                    traffic -> traffic.messagesSent(size), "direction", "sent", "size", label(size));
            traffic(lane, "messages", null, "Messages with bytes of the connections' streams",
                    traffic -> traffic.messagesReceived(size), "direction", "received", "size", label(size));
        }
        traffic(lane, "messages.deferred", null, "Messages that UCX did not complete in the call",
                UcxTraffic::sendsDeferred, "direction", "sent");
        traffic(lane, "messages.deferred", null, "Messages that UCX did not complete in the call",
                UcxTraffic::receivesDeferred, "direction", "received");
        traffic(lane, "messages.gathered", null, "Messages that were copied together",
                UcxTraffic::messagesGathered);
        traffic(lane, "buffers.gathered", null, "Buffers that messages were copied together from",
                UcxTraffic::buffersGathered);
        traffic(lane, "credit.waits", null, "How often the peer had no room for what was to be sent",
                UcxTraffic::creditWaits);
        traffic(lane, "credit.messages", null, "CREDIT messages", UcxTraffic::creditMessagesSent,
                "direction", "sent");
        traffic(lane, "credit.messages", null, "CREDIT messages", UcxTraffic::creditMessagesReceived,
                "direction", "received");
        traffic(lane, "connections.opened", null, "Connections that have been open",
                UcxTraffic::connectionsOpened);
        gauge("connections", null, "Open connections", of(lane, UcxTraffic::connections), "lane", lane);
    }

    /** As a tag's value. */
    private static String label(Enum<?> constant) {
        return constant instanceof SizeClass size
                ? size == SizeClass.LARGER ? "larger" : String.valueOf(size.limit())
                : constant.name().toLowerCase(Locale.ROOT);
    }

    // ------------------------------------------------------------------------------------------- how they are made

    private static ToDoubleFunction<UcxMetrics> of(String lane, ToDoubleFunction<UcxTraffic> value) {
        return metrics -> {
            UcxTraffic traffic = metrics.lanes().get(lane);
            return traffic == null ? 0 : value.applyAsDouble(traffic);
        };
    }

    private void traffic(String lane, String name, String unit, String description,
                         ToDoubleFunction<UcxTraffic> value, String... more) {
        counter(name, unit, description, of(lane, value), Tags.of("lane", lane).and(more));
    }

    private void counter(String name, String unit, String description, ToDoubleFunction<UcxMetrics> value,
                         String... more) {
        counter(name, unit, description, value, Tags.of(more));
    }

    private void counter(String name, String unit, String description, ToDoubleFunction<UcxMetrics> value,
                         Tags more) {
        // Micrometer forgets the object that it is given when nobody else has it; the function it keeps.
        add(FunctionCounter.builder(PREFIX + name, BoundMeters.class, ignored -> value.applyAsDouble(current.get()))
                .tags(tags).tags(more).baseUnit(unit).description(description).register(registry));
    }

    private void gauge(String name, String unit, String description, ToDoubleFunction<UcxMetrics> value,
                       String... more) {
        add(Gauge.builder(PREFIX + name, () -> value.applyAsDouble(current.get()))
                .tags(tags).tags(more).baseUnit(unit).description(description).register(registry));
    }

    private synchronized void add(Meter meter) {
        if (removed) {
            registry.remove(meter);
        } else {
            meters.add(meter);
        }
    }

    synchronized void remove() {
        removed = true;
        meters.forEach(registry::remove);
        meters.clear();
    }
}
