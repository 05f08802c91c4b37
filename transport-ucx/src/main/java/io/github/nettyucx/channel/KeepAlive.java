// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;

import java.io.IOException;
import java.util.Set;

/**
 * When the kernel asks a silent peer whether he is still there, and how often in vain: see {@code SO_KEEPALIVE} in
 * {@code socket(7)} and {@code TCP_KEEPIDLE}, {@code TCP_KEEPINTVL} and {@code TCP_KEEPCNT} in {@code tcp(7)}.
 *
 * @param idleSeconds     of silence before the first probe
 * @param intervalSeconds between two probes, and after the last
 * @param count           of probes
 */
record KeepAlive(int idleSeconds, int intervalSeconds, int count) {

    /** What tells the kernel of it, and what else it looks at to see whether the peer is there. */
    static final Set<SocketSetting> SETTINGS = Set.of(SocketSetting.KEEP_ALIVE,
            SocketSetting.KEEP_IDLE_SECONDS, SocketSetting.KEEP_INTERVAL_SECONDS, SocketSetting.KEEP_COUNT,
            SocketSetting.USER_TIMEOUT_MILLIS);

    /** Of the time that a peer may be silent, before he is asked. */
    private static final int IDLE_SHARE = 3;
    /** As many probes may get lost but one. More where the kernel's second is too coarse for so few. */
    private static final int PROBES = 4;

    /**
     * @param seconds that a peer may be silent; at least 1
     * @return what ends a connection after that time; after 2 s for 1, which is the least that the kernel can
     */
    static KeepAlive within(int seconds) {
        int idle = Math.max(1, seconds / IDLE_SHARE);
        int rest = Math.max(1, seconds - idle);
        int interval = Math.max(1, rest / PROBES);
        return new KeepAlive(idle, interval, rest / interval);
    }

    void set(KernelSocket socket) throws IOException {
        socket.set(SocketSetting.KEEP_ALIVE, 1);
        socket.set(SocketSetting.KEEP_IDLE_SECONDS, idleSeconds);
        socket.set(SocketSetting.KEEP_INTERVAL_SECONDS, intervalSeconds);
        socket.set(SocketSetting.KEEP_COUNT, count);
    }
}
