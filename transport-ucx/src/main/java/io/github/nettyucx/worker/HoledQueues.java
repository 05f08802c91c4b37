// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The workers in whose queue in shared memory this process has left a place empty. Such a worker receives nothing more of what
 * this process sends, whichever of its loops does: all of them end their links with it, and make no others.
 * <p>
 * Any thread may call.
 */
final class HoledQueues {

    /** Such a worker goes when it has no links any more: those that were known first are gone. */
    private static final int MAX = 256;

    private static final Map<ByteBuffer, Boolean> addresses = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Boolean> eldest) {
            return size() > MAX;
        }
    };
    private static final Set<ProgressEngine> loops = Collections.newSetFromMap(new IdentityHashMap<>());
    private static volatile int found;

    private HoledQueues() {
    }

    /** Is woken when one is found. */
    static synchronized void add(ProgressEngine loop) {
        loops.add(loop);
    }

    /** It is not woken any more when this returns. */
    static synchronized void remove(ProgressEngine loop) {
        loops.remove(loop);
    }

    /** @param address of the worker */
    static synchronized void found(byte[] address) {
        addresses.put(ByteBuffer.wrap(address), Boolean.TRUE);
        found++;
        loops.forEach(ProgressEngine::wakeup);
    }

    /** How often one has been found. */
    static int found() {
        return found;
    }

    static boolean has(byte[] address) {
        if (found == 0) {
            return false;
        }
        synchronized (HoledQueues.class) {
            return addresses.containsKey(ByteBuffer.wrap(address));
        }
    }
}
