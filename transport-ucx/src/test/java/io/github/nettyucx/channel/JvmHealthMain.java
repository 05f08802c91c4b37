// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.Channel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The program of {@link JvmHealthTest}: uses the transport, and then the JVM in ways that need its signal handlers. */
final class JvmHealthMain {

    static final String READY = "ready";
    static final String PASSED = "passed";
    static final String HOOK = "the shutdown hook runs";

    private static final int NULL_CHECKS = 100_000;
    private static final int DEREFERENCES = 5_000;
    private static final int OVERFLOWS = 200;
    private static final int SIGHUP = 1;
    private static final int SIGILL = 4;
    private static final int SIGBUS = 7;
    private static final int SIGFPE = 8;
    private static final int SIGSEGV = 11;
    private static final int SIGTERM = 15;
    private static final int[] SIGNALS = {SIGHUP, SIGILL, SIGBUS, SIGFPE, SIGSEGV, SIGTERM};
    private static final int SIGACTION_SIZE = 256;
    private static final long SIGNAL_MILLIS = 60_000;
    private static final MethodHandle SIGACTION = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("sigaction"), FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

    private record Node(Node next, int value) {
    }

    private JvmHealthMain() {
    }

    /** @param arguments what to do, in this order */
    public static void main(String[] arguments) throws Throwable {
        List<Long> handlers = handlers();
        for (String argument : arguments) {
            switch (argument) {
                case "transfer" -> transfer();
                case "faults" -> transferAmongFaults();
                case "handlers" -> assertSame(handlers, handlers());
                case "wait" -> waitForASignal();
                case "crash" -> crash();
                default -> throw new IllegalArgumentException(argument);
            }
        }
        System.out.println(PASSED);
    }

    private static void assertSame(List<Long> before, List<Long> after) {
        if (!before.equals(after)) {
            throw new AssertionError("signal handlers before UCX was loaded: " + before + ", after: " + after);
        }
    }

    /** Their addresses. */
    private static List<Long> handlers() throws Throwable {
        List<Long> handlers = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment action = arena.allocate(SIGACTION_SIZE, Long.BYTES);
            for (int signal : SIGNALS) {
                if ((int) SIGACTION.invokeExact(signal, 0L, action.address()) != 0) {
                    throw new AssertionError("sigaction fails for " + signal);
                }
                handlers.add(action.get(ValueLayout.JAVA_LONG, 0));
            }
        }
        return handlers;
    }

    private static void transfer() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int i = 0; i < 2; i++) {
            new Transfer(seeds.split(), Transfer.Size.ANY).run();
        }
    }

    /** The JVM's own faults, which it handles in its signal handlers, while UCX's threads are there. */
    private static void transferAmongFaults() throws Exception {
        Throwable[] failure = new Throwable[1];
        Thread faulting = Thread.ofPlatform().start(() -> {
            try {
                faults();
            } catch (Throwable t) {
                failure[0] = t;
            }
        });
        transfer();
        faulting.join();
        if (failure[0] != null) {
            throw new AssertionError(failure[0]);
        }
    }

    private static void faults() {
        // Compiled code that has seen no null checks for it by SIGSEGV.
        int sum = 0;
        Node node = new Node(new Node(null, 1), 2);
        for (int i = 0; i < NULL_CHECKS; i++) {
            sum += valueOfNext(node);
        }
        int caught = 0;
        Node end = new Node(null, 0);
        for (int i = 0; i < DEREFERENCES; i++) {
            try {
                sum += valueOfNext(end);
            } catch (NullPointerException e) {
                caught++;
            }
        }
        int overflown = 0;
        for (int i = 0; i < OVERFLOWS; i++) {
            try {
                sum += depth(0);
            } catch (StackOverflowError e) {
                overflown++;
            }
        }
        if (caught != DEREFERENCES || overflown != OVERFLOWS || sum != NULL_CHECKS) {
            throw new AssertionError(caught + " of " + DEREFERENCES + " null pointers, " + overflown + " of "
                    + OVERFLOWS + " overflows, sum " + sum);
        }
        System.out.println(caught + " null pointers and " + overflown + " stack overflows");
    }

    private static int valueOfNext(Node node) {
        return node.next().value();
    }

    private static int depth(int n) {
        return n < 0 ? 0 : 1 + depth(n + 1);
    }

    private static void waitForASignal() throws Exception {
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(Customers.Clerk::new);
            Customers customers = new Customers(peers, server);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(HOOK + "; " + customers)));
            System.out.println(READY);
            // The end comes in the middle of it, by the signal.
            Thread.sleep(SIGNAL_MILLIS);
            throw new AssertionError("no signal has ended this process within " + SIGNAL_MILLIS + " ms");
        }
    }

    private static void crash() {
        MemorySegment.NULL.reinterpret(Long.MAX_VALUE).set(ValueLayout.JAVA_INT, 8, 1);
    }
}
