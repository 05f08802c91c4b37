// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.memory.UcxMemoryException;
import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Memory of the broker's that has been opened, by its keys. The broker uses memory for one segment after the other: what is
 * open stays so, and with it what the system has done to attach it. For the event loop only.
 */
final class OpenedMemory {
    /** The broker writes into two in turn. */
    private static final int KEPT = 2;
    /** A key of memory that has been revoked before it was opened is not known. */
    private static final Set<Reason> GONE = EnumSet.of(Reason.REVOKED, Reason.CLOSED, Reason.UNKNOWN_KEY);

    private final LogConnection connection;
    private final SequencedMap<ByteBuffer, UcxRemoteMemory> byKey = new LinkedHashMap<>();
    private boolean closed;

    OpenedMemory(LogConnection connection) {
        this.connection = connection;
    }

    /** Whether a failure says no more than that the broker, or this side, has given the memory up. */
    static boolean isGone(Throwable cause) {
        return cause instanceof UcxMemoryException e && GONE.contains(e.reason());
    }

    Future<UcxRemoteMemory> open(byte[] key) {
        var name = ByteBuffer.wrap(key);
        // Taken out, and put in again as the youngest.
        var known = byKey.remove(name);
        if (known != null) {
            byKey.put(name, known);
            return connection.loop().newSucceededFuture(known);
        }
        return connection.openMemory(key).addListener((Future<UcxRemoteMemory> opening) -> {
            if (!opening.isSuccess()) {
                return;
            }
            if (closed) {
                opening.getNow().close();
                return;
            }
            byKey.put(name, opening.getNow());
            if (byKey.size() > KEPT) {
                byKey.pollFirstEntry().getValue().close();
            }
        });
    }

    /** Gives all of it up; what is opened later is kept again. */
    void forget() {
        byKey.values().forEach(UcxRemoteMemory::close);
        byKey.clear();
    }

    /** The same, for ever. */
    void close() {
        closed = true;
        forget();
    }
}
