// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.worker.Attachment;
import io.github.nettyucx.worker.EndpointPort;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What of the peer's memory this side has opened, from the owner's answer until it is closed or revoked. */
final class Openings {

    private final MemoryAccess access;
    private final MemoryExchange exchange;
    private final EndpointPort port;
    /** By the owner's numbers. */
    private final IntObjectMap<UcxRemoteMemory> opened = new IntObjectHashMap<>(4);
    /** Answers that are being received, and what the owner has revoked meanwhile and is none of the opened. */
    private int receiving;
    private final Set<Integer> revokedEarly = new HashSet<>(0);

    Openings(MemoryAccess access, MemoryExchange exchange, EndpointPort port) {
        this.access = access;
        this.exchange = exchange;
        this.port = port;
    }

    /** An answer takes time to be received. */
    void begin() {
        receiving++;
    }

    /** One of these has been received, and looked at. */
    void end() {
        if (--receiving == 0) {
            revokedEarly.clear();
        }
    }

    /** @param frame the owner's answer */
    void opened(Operation operation, long frame) throws ProtocolException {
        int handle = MemoryFrame.getInt(frame + MemoryFrame.HANDLE_AT);
        int rights = MemoryFrame.getByte(frame + MemoryFrame.OPENED_RIGHTS_AT);
        long length = MemoryFrame.getLong(frame + MemoryFrame.OPENED_LENGTH_AT);
        long address = MemoryFrame.getLong(frame + MemoryFrame.OPENED_ADDRESS_AT);
        int keyLength = (int) operation.frameLength - MemoryFrame.SHARED_KEY_AT;
        boolean possible = keyLength >= 0 && handle > 0 && handle <= Tag.MAX_VALUE && !opened.containsKey(handle)
                && length > 0 && rights <= UcxMemoryRight.ALL_BITS && (keyLength == 0 || exchange.isShared());
        if (!possible) {
            throw new ProtocolException("the peer opened memory in a way that cannot be");
        }
        if (revokedEarly.remove(handle)) {
            // The owner takes the memory for attached until it is told.
            sayClosed(handle);
            access.complete(operation, new UcxMemoryException(Reason.REVOKED));
            return;
        }
        Attachment attachment = null;
        if (keyLength > 0) {
            try {
                attachment = port.attach(MemoryFrame.getBytes(frame + MemoryFrame.SHARED_KEY_AT, keyLength), address);
            } catch (IOException e) {
                // The owner takes the memory for attached until it is told.
                sayClosed(handle);
                access.complete(operation,
                        new IOException("the peer's memory cannot be attached: " + e.getMessage(), e));
                return;
            }
        }
        UcxRemoteMemory memory = new UcxRemoteMemory(access, operation.executor, handle, length, rights, attachment);
        opened.put(handle, memory);
        Promise<UcxRemoteMemory> promise = operation.opening;
        operation.completion = (id, value, cause) -> {
            if (!promise.trySuccess(memory)) {
                // Cancelled meanwhile.
                close(memory);
            }
        };
        access.complete(operation, null);
    }

    void revoked(int handle) {
        UcxRemoteMemory memory = opened.remove(handle);
        if (memory != null) {
            memory.end(Reason.REVOKED, () -> detached(handle));
        } else if (receiving > 0 && revokedEarly.size() < MemoryFrame.MAX_OPENINGS) {
            // Faster than the answer that opens it: that has come before, and is still being received.
            revokedEarly.add(handle);
        }
    }

    void close(UcxRemoteMemory memory) {
        if (opened.remove(memory.handle()) != null) {
            memory.end(Reason.CLOSED, () -> detached(memory.handle()));
        }
    }

    private void detached(int handle) {
        try {
            sayClosed(handle);
        } catch (OutOfMemoryError e) {
            // Otherwise the owner would keep the memory for as long as the connection lasts.
            exchange.outOfMemory(e);
        }
    }

    private void sayClosed(int handle) {
        if (exchange.end() == null) {
            int frame = exchange.frames().acquire();
            MemoryFrame.request(exchange.frames().address(frame), MemoryFrame.CLOSE, 0, handle, 0, 0, 0, 0);
            exchange.send(Tag.MEMORY_REQUEST, 0, frame, MemoryFrame.REQUEST_LENGTH);
        }
    }

    /** The connection has. */
    void ended() {
        for (UcxRemoteMemory memory : List.copyOf(opened.values())) {
            memory.end(null, () -> { });
        }
        opened.clear();
    }
}
