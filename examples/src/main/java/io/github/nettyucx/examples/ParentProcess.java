// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The child's half of {@link ChildProcess}: standard input ends when the parent wants it to, or when it is gone. */
public final class ParentProcess {
    /** More than all bounds together within which a server closes what it has. */
    private static final long GRACE_SECONDS = 20;
    /** Of each thread's stack. */
    private static final int FRAMES = 15;

    private ParentProcess() {
    }

    /**
     * @param stop starts an orderly end of this process; if that takes too long, it ends anyhow
     */
    public static void onceGone(Runnable stop) {
        onceGone(stop, line -> { });
    }

    /**
     * @param stop starts an orderly end of this process; if that takes too long, it ends anyhow
     * @param orders receives each line that the parent writes until then, on a thread of their own; what it throws is told,
     *         and ends this process
     */
    public static void onceGone(Runnable stop, Consumer<String> orders) {
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try {
                for (var line = next(lines); line != null; line = next(lines)) {
                    orders.accept(line);
                }
            } catch (Throwable t) {
                // The parent would wait for an answer that does not come.
                System.err.println("what the parent wanted has failed: " + Explanation.of(t));
                t.printStackTrace();
                System.exit(1);
            }
            CompletableFuture.delayedExecutor(GRACE_SECONDS, TimeUnit.SECONDS).execute(() -> {
                tellWhatItWaitsFor();
                Runtime.getRuntime().halt(1);
            });
            stop.run();
        });
    }

    /** @return {@code null} at the end; what cannot be read is as good as one */
    private static String next(BufferedReader lines) {
        try {
            return lines.readLine();
        } catch (IOException e) {
            return null;
        }
    }

    /** Whoever looks for the reason has the threads that keep this process alive, and no process any more. */
    private static void tellWhatItWaitsFor() {
        var text = new StringBuilder("it has not ended " + GRACE_SECONDS + " s after it was told to:");
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            if (!thread.isDaemon()) {
                text.append("\n  ").append(thread.getName());
                Arrays.stream(frames).limit(FRAMES).forEach(frame -> text.append("\n    at ").append(frame));
            }
        });
        System.err.println(text);
    }
}
