// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.Eventually;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Fails a subclass of {@link NettySuite} that has passed without one connection over the lane of its {@link Pair}: it has
 * tested nothing of this transport. One whose tests have all been skipped has said so itself. It is not asked of each
 * nested class: some close what they have accepted before there is a connection.
 */
final class LaneTaken implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    /** A connection is counted by its loop, and a test may be over a moment before. */
    private static final long PATIENCE_MILLIS = 2000;

    /** As it was before the first test. */
    private record Start(Pair pair, long connections) {
    }

    private final Map<Class<?>, Start> starts = new ConcurrentHashMap<>();
    private final Set<Class<?>> passed = ConcurrentHashMap.newKeySet();

    @Override
    public void beforeEach(ExtensionContext context) {
        Pair pair = suite(context).pair;
        starts.computeIfAbsent(suite(context).getClass(), key -> new Start(pair, pair.connections()));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (context.getExecutionException().isEmpty()) {
            passed.add(suite(context).getClass());
        }
    }

    private static NettySuite suite(ExtensionContext context) {
        return context.getRequiredTestInstances().findInstance(NettySuite.class).orElseThrow();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        Class<?> suite = context.getRequiredTestClass();
        // After a nested class nothing is found under its name.
        Start start = starts.remove(suite);
        if (passed.remove(suite)) {
            assertTaken(start.pair, start.connections, PATIENCE_MILLIS);
        }
    }

    /** @param before how many connections the pair had made before what is asked about */
    static void assertTaken(Pair pair, long before, long patienceMillis) throws Exception {
        Eventually.await(patienceMillis, () -> "a connection of " + pair + "; there have been " + pair.connections()
                + ", and " + before + " before", () -> pair.connections() > before);
    }
}
