// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.micrometer;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Gives the metrics of a {@link UcxEventLoopGroup} to Micrometer, as meters whose names begin with {@code netty.ucx.}:
 * <pre>{@code
 * new UcxMetricsBinder(group).bindTo(registry);
 * }</pre>
 * The meters keep the binder and its group. Two groups that are bound to one registry need tags that tell them apart.
 * <p>
 * Lanes become known when connections take them. The meters of a new lane are there some moments after any meter of the
 * binder has been read; nothing that they count is lost.
 * <p>
 * Any thread may call.
 */
public final class UcxMetricsBinder implements MeterBinder, AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxMetricsBinder.class);

    /** How old what is read may be: a registry reads all meters one after another, and gets what belongs together. */
    private static final long MAX_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Supplier<UcxMetrics> source;
    private final List<Tag> tags;
    private final Set<String> lanes = ConcurrentHashMap.newKeySet();
    private final List<BoundMeters> bound = new CopyOnWriteArrayList<>();
    private volatile Snapshot snapshot;

    private record Snapshot(UcxMetrics metrics, long takenNanos) {

        boolean isFresh() {
            return System.nanoTime() - takenNanos < MAX_AGE_NANOS;
        }
    }

    public UcxMetricsBinder(UcxEventLoopGroup group) {
        this(group, List.of());
    }

    /**
     * @param tags that all meters have
     */
    public UcxMetricsBinder(UcxEventLoopGroup group, Iterable<Tag> tags) {
        this(Objects.requireNonNull(group, "group")::metrics, tags);
    }

    /**
     * For loops that are not those of one {@link UcxEventLoopGroup}.
     *
     * @param source gives the current metrics, to any thread
     * @param tags   that all meters have
     */
    public UcxMetricsBinder(Supplier<UcxMetrics> source, Iterable<Tag> tags) {
        this.source = Objects.requireNonNull(source, "source");
        this.tags = Tags.of(tags).stream().toList();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        BoundMeters meters = new BoundMeters(registry, tags, this::current);
        meters.addLoops();
        current();
        lanes.forEach(meters::addLane);
        // Known to others only now, so that all lanes of this moment are there when we return.
        bound.add(meters);
        // Those that have become known meanwhile.
        lanes.forEach(meters::addLane);
    }

    /** Removes the meters from the registries that this binder was bound to. */
    @Override
    public void close() {
        // One by one: what is bound meanwhile stays known, with its meters.
        bound.removeIf(meters -> {
            meters.remove();
            return true;
        });
    }

    /** One registry that does not take them is no reason for the others not to have them. */
    private static void add(BoundMeters meters, String lane) {
        try {
            meters.addLane(lane);
        } catch (RuntimeException e) {
            logger.warn("A registry does not take the meters of lane {}.", lane, e);
        }
    }

    private UcxMetrics current() {
        Snapshot current = snapshot;
        return (current == null || !current.isFresh() ? refreshed() : current).metrics;
    }

    /** One thread at a time: else what one has taken first could be put in the place of what another has taken since. */
    private synchronized Snapshot refreshed() {
        Snapshot current = snapshot;
        if (current == null || !current.isFresh()) {
            current = new Snapshot(source.get(), System.nanoTime());
            snapshot = current;
            for (String lane : current.metrics.lanes().keySet()) {
                if (lanes.add(lane)) {
                    // Not here: a registry may be going through its meters.
                    GlobalEventExecutor.INSTANCE.execute(() -> bound.forEach(meters -> add(meters, lane)));
                }
            }
        }
        return current;
    }
}
