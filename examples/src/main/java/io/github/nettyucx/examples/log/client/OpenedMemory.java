// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Memory of the broker's that has been opened, by its keys. The broker uses memory for one segment after the other: what is
 * open stays so, and with it what the system has done to attach it. For the event loop only.
 */
final class OpenedMemory {
    /** The broker writes into two in turn. */
    private static final int KEPT = 2;

    private final LogConnection connection;
    private final SequencedMap<ByteBuffer, UcxRemoteMemory> byKey = new LinkedHashMap<>();
    private boolean closed;

    OpenedMemory(LogConnection connection) {
        this.connection = connection;
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
