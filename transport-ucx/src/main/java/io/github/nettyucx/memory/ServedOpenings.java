// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.ucp.UcxException;
import io.github.nettyucx.wire.Tag;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** What of this side's memory the peer has opened, until it closes it or the connection ends. */
final class ServedOpenings {

    /** A key that the peer has opened. */
    final class Opening implements UcxMemory.Opening {

        private final int handle;
        private final UcxMemory region;
        private final int rights;
        private final boolean direct;

        Opening(int handle, UcxMemory region, int rights, boolean direct) {
            this.handle = handle;
            this.region = region;
            this.rights = rights;
            this.direct = direct;
        }

        UcxMemory region() {
            return region;
        }

        int rights() {
            return rights;
        }

        @Override
        public boolean isDirect() {
            return direct;
        }

        @Override
        public void revoked() {
            LoopTask.execute(exchange.loop(), this::tellRevoked);
        }

        private void tellRevoked() {
            if (openings.get(handle) == this) {
                exchange.send(Tag.MEMORY_REVOKED, handle, 0, 0, -1, null);
            }
        }
    }

    private final MemoryExchange exchange;
    private final IntObjectMap<Opening> openings = new IntObjectHashMap<>(4);
    private int lastHandle;

    ServedOpenings(MemoryExchange exchange) {
        this.exchange = exchange;
    }

    /** @return {@code null} if there is none with this handle */
    Opening find(int handle) {
        return openings.get(handle);
    }

    /**
     * Opens a key, and answers.
     *
     * @param frame of the job, which has the key
     * @return why that is refused, which has still to be answered; or {@code null}
     */
    Reason open(Job job, long frame) {
        MemoryKey key;
        try {
            key = MemoryKey.parse(MemoryFrame.getBytes(frame + MemoryFrame.KEY_AT, MemoryKey.LENGTH));
        } catch (UcxMemoryException e) {
            return e.reason();
        }
        UcxMemory region = UcxMemory.find(key);
        if (region == null) {
            return Reason.UNKNOWN_KEY;
        }
        return openings.size() == MemoryFrame.MAX_OPENINGS ? Reason.TOO_MANY : open(job, frame, region, key.rights());
    }

    /** Any thread may revoke the region meanwhile. Its memory stays as long as UCX is asked about it. */
    Reason open(Job job, long frame, UcxMemory region, int rights) {
        if (!region.memory().tryRetain()) {
            return Reason.REVOKED;
        }
        try {
            return openRetained(job, frame, region, rights);
        } finally {
            region.memory().release();
        }
    }

    private Reason openRetained(Job job, long frame, UcxMemory region, int rights) {
        byte[] shared = exchange.isShared() ? sharedKey(region) : null;
        Opening opening = new Opening(newHandle(), region, rights, shared != null);
        region.memory().usedBy(exchange.loop());
        if (!region.add(opening)) {
            return Reason.REVOKED;
        }
        openings.put(opening.handle, opening);
        MemoryFrame.putLong(frame, 0);
        MemoryFrame.putByte(frame + MemoryFrame.OPENED_RIGHTS_AT, rights);
        MemoryFrame.putInt(frame + MemoryFrame.HANDLE_AT, opening.handle);
        MemoryFrame.putLong(frame + MemoryFrame.OPENED_LENGTH_AT, region.length());
        MemoryFrame.putLong(frame + MemoryFrame.OPENED_ADDRESS_AT, shared == null ? 0 : region.memory().address());
        if (shared != null) {
            MemoryFrame.putBytes(frame + MemoryFrame.SHARED_KEY_AT, shared);
        }
        exchange.send(Tag.MEMORY_ANSWER, job.number, job.frame,
                MemoryFrame.SHARED_KEY_AT + (shared == null ? 0 : shared.length));
        return null;
    }

    private static byte[] sharedKey(UcxMemory region) {
        try {
            byte[] key = region.memory().sharedKey();
            return key == null || key.length > MemoryFrame.MAX_SHARED_KEY ? null : key;
        } catch (UcxException e) {
            // Then it goes without.
            return null;
        }
    }

    private int newHandle() {
        do {
            lastHandle = lastHandle == Tag.MAX_VALUE ? 1 : lastHandle + 1;
        } while (openings.containsKey(lastHandle));
        return lastHandle;
    }

    /** The lengths of all memories that are open, in bytes: of each once, however often it is. */
    long length() {
        Set<UcxMemory> counted = Collections.newSetFromMap(new IdentityHashMap<>());
        long length = 0;
        for (Opening opening : openings.values()) {
            length += counted.add(opening.region()) ? opening.region().length() : 0;
        }
        return length;
    }

    void close(Opening opening) {
        openings.remove(opening.handle);
        opening.region.remove(opening);
    }

    /** The connection has. */
    void ended() {
        List<Opening> open = List.copyOf(openings.values());
        openings.clear();
        open.forEach(opening -> opening.region.remove(opening));
    }
}
