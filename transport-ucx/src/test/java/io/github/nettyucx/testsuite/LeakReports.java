// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.OperationWatch;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Fails a class of tests after which Netty's leak detection has something to report, which Netty itself only logs, or
 * after which UCX has an operation that does not complete. It prepares the process for Netty's tests, too.
 */
final class LeakReports implements AfterAllCallback {

    /** What becomes unreachable by one collection may be found by the next. */
    private static final int COLLECTIONS = 2;
    /** Longer than the transport itself waits for the operations of a closed connection. */
    private static final long PATIENCE_MILLIS = 10_000;

    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();
    private static final Queue<Detector<?>> DETECTORS = new ConcurrentLinkedQueue<>();

    static {
        // Before Netty's classes are loaded, each of which makes its detector then.
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation")
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                    Class<T> resource, int samplingInterval, long maxActive) {
                Detector<T> detector = new Detector<>(resource, samplingInterval);
                DETECTORS.add(detector);
                return detector;
            }
        });
        SilentServer.announce();
    }

    private static final class Detector<T> extends ResourceLeakDetector<T> {

        Detector(Class<?> resource, int samplingInterval) {
            super(resource, samplingInterval);
        }

        /** A detector looks for leaks when it is given the next object to watch. */
        @SuppressWarnings("unchecked")
        void look() {
            T object = (T) new Object();
            ResourceLeakTracker<T> tracker = track(object);
            tracker.close(object);
        }

        @Override
        protected void reportTracedLeak(String resourceType, String records) {
            super.reportTracedLeak(resourceType, records);
            REPORTS.add(resourceType + records);
        }

        @Override
        protected void reportUntracedLeak(String resourceType) {
            super.reportUntracedLeak(resourceType);
            REPORTS.add(resourceType);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        OperationWatch.assertNothingInFlight(PATIENCE_MILLIS, SuiteLoops.groups());
        assertNoLeaks();
    }

    /** Collects garbage, and waits until the references to it have been put into their queues. */
    private static void collect() {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> sentinel = new WeakReference<>(new Object(), queue);
        System.gc();
        try {
            if (queue.remove(PATIENCE_MILLIS) != sentinel) {
                throw new AssertionError("garbage is not collected");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** @throws AssertionError if something that has to be released has become garbage before, since the last call */
    static void assertNoLeaks() {
        for (int i = 0; i < COLLECTIONS; i++) {
            collect();
            DETECTORS.forEach(Detector::look);
        }
        List<String> reports = new ArrayList<>();
        for (String report = REPORTS.poll(); report != null; report = REPORTS.poll()) {
            reports.add(report);
        }
        assertEquals(List.of(), reports, "leaks");
    }
}
