// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnumSetting;
import io.github.nettyucx.worker.IntSetting;

import java.util.concurrent.TimeUnit;

/**
 * What an event loop does while nothing happens. In every strategy timers are exact and no wake-up is lost.
 */
public enum UcxWaitStrategy {

    /**
     * Looks for work all the time: the lowest latency, and a core of its own for each loop. Do not use it with more
     * loops than cores.
     */
    BUSY_SPIN,

    /** Sleeps in the kernel as soon as there is nothing to do: the least use of the processor. */
    PARK,

    /**
     * Looks for work for a while (20 µs, or the system property {@code io.github.nettyucx.spinMicros}) and then
     * sleeps in the kernel. While looking keeps being in vain it sleeps at once, and tries now and then, for 0.4 ms at
     * most, whether that has changed. A loop whose channels all use sockets tries more rarely while its thread has to
     * wait for the processor, because others have it; so does any loop of a process that has one processor. The default.
     */
    ADAPTIVE;

    /**
     * The strategy of groups that are not told which to use: that of the system property
     * {@code io.github.nettyucx.waitStrategy} ({@code BUSY_SPIN}, {@code PARK} or {@code ADAPTIVE}, in any case), or
     * {@link #ADAPTIVE}.
     *
     * @throws IllegalArgumentException if the property names no strategy
     */
    public static UcxWaitStrategy byDefault() {
        return EnumSetting.of("io.github.nettyucx.waitStrategy", UcxWaitStrategy.class, ADAPTIVE);
    }

    /**
     * How long {@link #ADAPTIVE} looks for work before it sleeps, in nanoseconds. Read for each loop: a class that
     * failed to initialize would say what is wrong only once.
     *
     * @throws IllegalArgumentException if the property is no number, or out of range
     */
    static long spinNanos() {
        IntSetting micros = IntSetting.of("io.github.nettyucx.spinMicros", 20, 0, 1_000_000, "microseconds");
        micros.check();
        return TimeUnit.MICROSECONDS.toNanos(micros.value());
    }
}
