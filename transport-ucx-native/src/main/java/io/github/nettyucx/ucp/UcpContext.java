// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * UCX set up for certain features and a configuration; the root of everything else. Creating workers and memory is
 * for one thread at a time, unless the context has {@link UcpContextParams#mtWorkersShared}.
 */
public final class UcpContext implements AutoCloseable {

    private static final Pattern RESOURCE = Pattern.compile("#\\s*resource \\d+\\s*:.* (\\S+/\\S+)\\s*");

    /** Workers and memory that have not been closed. */
    private final AtomicInteger uses = new AtomicInteger();
    private volatile long address;

    private UcpContext(long address) {
        this.address = address;
    }

    /**
     * Creates a context.
     *
     * @throws UcxException         if UCX can't provide what is asked for, such as a transport
     * @throws UnsatisfiedLinkError if there is no usable UCX
     */
    public static UcpContext create(UcpContextParams params) throws UcxException {
        UcxLibrary.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            long config = params.config() == null ? 0 : params.config().address();
            long written = params.write(arena);
            UcpFunctions.checkReading("Creating a UCX context", () -> UcpFunctions.call(
                    UcpFunctions.INIT_VERSION, UcpConstants.API_MAJOR, UcpConstants.API_MINOR, written, config,
                    out.address(), 0));
            return new UcpContext(out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /** The {@code ucp_context_h}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The context is closed");
        }
        return address;
    }

    public boolean isClosed() {
        return address == 0;
    }

    /** Creates a worker. */
    public UcpWorker createWorker(UcpWorkerParams params) throws UcxException {
        return new UcpWorker(this, params);
    }

    /**
     * Registers native memory, such as an {@link Arena}'s or a direct buffer's, which must stay allocated until the
     * result is closed.
     */
    public UcpMemory map(MemorySegment segment) throws UcxException {
        if (!segment.isNative() || segment.byteSize() == 0) {
            throw new IllegalArgumentException("Native memory of some length is needed: " + segment);
        }
        return new UcpMemory(this, segment, segment.byteSize());
    }

    /**
     * Registers native memory at an address, which must stay allocated until the result is closed. One registration
     * serves any number of operations, on any part of it.
     *
     * @param length in bytes, at least 1
     */
    public UcpMemory map(long address, long length) throws UcxException {
        if (address == 0 || length <= 0) {
            throw new IllegalArgumentException("address: " + Long.toHexString(address) + ", length: " + length
                    + " (expected: neither 0, and a length > 0)");
        }
        return map(NativeMemory.segment(address, length));
    }

    /**
     * Has UCX allocate and register memory, where other processes of the host can reach it directly.
     *
     * @param length in bytes, at least 1
     */
    public UcpMemory allocate(long length) throws UcxException {
        if (length <= 0) {
            throw new IllegalArgumentException("length: " + length + " (expected: > 0)");
        }
        return new UcpMemory(this, null, length);
    }

    /** How the context may be used by threads. */
    public UcsThreadMode threadMode() throws UcxException {
        return UcsThreadMode.of(query(UcpConstants.UCP_ATTR_FIELD_THREAD_MODE)
                .get(ValueLayout.JAVA_INT, UcpLayouts.ContextAttr.THREAD_MODE));
    }

    /** The kinds of memory that can be sent from and received into: a bit for each {@code ucs_memory_type_t}. */
    public long memoryTypes() throws UcxException {
        return query(UcpConstants.UCP_ATTR_FIELD_MEMORY_TYPES)
                .get(ValueLayout.JAVA_LONG, UcpLayouts.ContextAttr.MEMORY_TYPES);
    }

    public String name() throws UcxException {
        return query(UcpConstants.UCP_ATTR_FIELD_NAME).getString(UcpLayouts.ContextAttr.NAME);
    }

    /**
     * What UCX has to say about the context: its components, memory domains and resources, one on each line. For
     * people; the form is UCX's and may change with any release.
     */
    public String describe() {
        return PrintedText.of(file -> UcpFunctions.call(UcpFunctions.CONTEXT_PRINT_INFO, address(), file, 0));
    }

    /** The resources in {@link #describe}: each transport with its device, such as {@code tcp/eth0}. */
    public List<String> resources() {
        return describe().lines().map(RESOURCE::matcher).filter(Matcher::matches).map(line -> line.group(1)).toList();
    }

    private MemorySegment query(long field) throws UcxException {
        MemorySegment attr = Arena.ofAuto().allocate(UcpLayouts.ContextAttr.SIZE, Long.BYTES);
        attr.set(ValueLayout.JAVA_LONG, UcpLayouts.ContextAttr.FIELD_MASK, field);
        UcpFunctions.check("Asking a context for its attributes",
                UcpFunctions.CONTEXT_QUERY, address(), attr.address(), 0);
        return attr;
    }

    /**
     * Destroys the context.
     *
     * @throws IllegalStateException if workers or memory of this context are still open
     */
    @Override
    public void close() {
        if (address == 0) {
            return;
        }
        int open = uses.get();
        if (open != 0) {
            throw new IllegalStateException("The context has " + open + " open workers or memory regions");
        }
        long destroyed = address;
        address = 0;
        UcpFunctions.call(UcpFunctions.CLEANUP, destroyed, 0, 0);
    }

    /** A worker or memory was created. */
    void retained() {
        uses.incrementAndGet();
    }

    /** A worker or memory was closed. */
    void released() {
        uses.decrementAndGet();
    }
}
