// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.UcxRuntime;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A region of this process's memory that peers may access. It belongs to no channel: a peer that has a
 * {@linkplain #exportKey key} opens it on any channel to this process that has a link.
 * <p>
 * The memory stays until it is revoked or closed, and nobody uses it any more. Any thread may call.
 */
public final class UcxMemory implements AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxMemory.class);

    private static final int SECRET_LENGTH = 32;
    private static final long ALIGNMENT = 64;

    /** Those that have not been revoked, by their numbers. */
    private static final Map<Long, UcxMemory> REGIONS = new ConcurrentHashMap<>();

    /** A peer that has opened the region. */
    interface Opening {

        /** Whether the peer reaches the memory without this process. */
        boolean isDirect();

        /** Has the peer told that there is nothing to be had any more. Any thread may call. */
        void revoked();
    }

    private final RegionMemory memory;
    private final int rights;
    private final long number;
    private final byte[] secret = new byte[SECRET_LENGTH];
    private final Set<Opening> openings = new HashSet<>();
    private boolean released;
    private volatile boolean revoked;

    private UcxMemory(RegionMemory memory, int rights) {
        this.memory = memory;
        this.rights = rights;
        KernelRandom.fill(secret);
        long chosen;
        do {
            chosen = KernelRandom.nextLong();
        } while (REGIONS.putIfAbsent(chosen, this) != null);
        number = chosen;
    }

    /**
     * Allocates zeroed memory, which peers on lane {@code shm} attach: they reach it by loads and stores of their own.
     * Where this process has no shared memory, or not so much, or UCX may use neither {@code sysv} nor {@code posix}, it is
     * ordinary memory, as {@link #allocateChecked} gives.
     * {@link #isShared} tells which.
     *
     * @param length in bytes, at least 1
     * @param rights that can be given to peers
     * @throws IllegalArgumentException if the length is less than 1
     * @throws OutOfMemoryError if there is not so much memory. More than the machine has is refused before any is taken
     */
    public static UcxMemory allocate(long length, UcxMemoryRight... rights) {
        checkLength(length);
        int bits = UcxMemoryRight.bits(rights);
        RegionMemory memory;
        try {
            memory = RegionMemory.shared(UcxRuntime.allocateShared(length));
        } catch (IOException | LinkageError e) {
            logger.debug("{} bytes of memory are not shared with other processes.", length, e);
            memory = ordinary(length);
        }
        // So that every page is there before somebody else looks for it.
        memory.segment().fill((byte) 0);
        return new UcxMemory(memory, bits);
    }

    /**
     * Allocates zeroed memory that no other process attaches: on every lane this process's event loops execute what
     * peers ask for, and check each operation.
     *
     * @param length in bytes, at least 1
     * @param rights that can be given to peers
     * @throws IllegalArgumentException if the length is less than 1
     * @throws OutOfMemoryError if there is not so much memory. More than the machine has is refused before any is taken
     */
    public static UcxMemory allocateChecked(long length, UcxMemoryRight... rights) {
        checkLength(length);
        int bits = UcxMemoryRight.bits(rights);
        return new UcxMemory(ordinary(length), bits);
    }

    /**
     * Gives access to the readable bytes of a direct buffer, which is retained until nobody uses it any more. On every
     * lane this process's event loops execute what peers ask for. A mapped file is such a buffer, by
     * {@code Unpooled.wrappedBuffer}.
     *
     * @param buffer of one piece of native memory, with at least 1 readable byte; its address has to be divisible by 8
     *               if there is a right to atomic operations. One that is read-only can be given to readers only. Its capacity
     *               must not be changed any more
     * @param rights that can be given to peers
     * @throws IllegalArgumentException if the buffer is not so
     */
    public static UcxMemory of(ByteBuf buffer, UcxMemoryRight... rights) {
        int length = buffer.readableBytes();
        checkLength(length);
        if (!BufferAddress.isContiguous(buffer)) {
            throw new IllegalArgumentException("buffer: " + buffer + " (expected: a direct buffer of one piece)");
        }
        int bits = UcxMemoryRight.bits(rights);
        // A composite does not say so of its parts.
        boolean isReadOnly = buffer.isReadOnly() || buffer.nioBuffer(buffer.readerIndex(), length).isReadOnly();
        if (isReadOnly && (bits & ~UcxMemoryRight.READ.bit()) != 0) {
            // Pages of a file that is mapped to be read: whoever writes there ends the process.
            throw new IllegalArgumentException("rights: " + UcxMemoryRight.of(bits) + " (expected: READ alone, for the buffer is"
                    + " read-only: " + buffer + ")");
        }
        long address = BufferAddress.of(buffer, buffer.readerIndex(), length);
        if ((bits & UcxMemoryRight.ATOMIC.bit()) != 0 && address % Long.BYTES != 0) {
            throw new IllegalArgumentException("the buffer's bytes begin at an address that 8 does not divide (0x"
                    + Long.toHexString(address) + "): atomic operations need one that it does");
        }
        ByteBuf retained = buffer.retain();
        return new UcxMemory(RegionMemory.of(address, length, () -> ReferenceCountUtil.safeRelease(retained)), bits);
    }

    private static void checkLength(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length: " + length + " (expected: at least 1 byte)");
        }
        // UCX would find out by filling all of /dev/shm, and with it the machine's memory.
        long most = machineMemory();
        if (length > most) {
            throw new OutOfMemoryError("length: " + length + " (expected: at most the " + most
                    + " bytes of memory and swap space that this machine has)");
        }
    }

    /** In bytes, with swap space. */
    private static long machineMemory() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("MemTotal:") || line.startsWith("SwapTotal:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).sum();
        } catch (IOException | UncheckedIOException e) {
            logger.debug("How much memory this machine has is not known.", e);
            return Long.MAX_VALUE;
        }
    }

    private static RegionMemory ordinary(long length) {
        Arena arena = Arena.ofShared();
        return RegionMemory.of(arena.allocate(length, ALIGNMENT).address(), length, arena::close);
    }

    // ------------------------------------------------------------------------------------------- what it is

    /** In bytes. */
    public long length() {
        return memory.length();
    }

    /** Those that can be given to peers. */
    public Set<UcxMemoryRight> rights() {
        return UcxMemoryRight.of(rights);
    }

    /** Whether peers on lane {@code shm} reach the memory without this process's help. */
    public boolean isShared() {
        return memory.isShared();
    }

    /**
     * The memory itself, for any thread. When nobody can use the region any more it is gone, and access to this
     * throws an {@link IllegalStateException}.
     */
    public MemorySegment segment() {
        return memory.segment();
    }

    /**
     * What a peer needs to open the region: 64 bytes, to be sent to it in whatever way. Who has them has access. They are
     * bound to this region and these rights, and worth nothing when the region has been revoked.
     *
     * @param given to who has the key; none means all that there are
     * @throws IllegalArgumentException if one of them is not the region's
     */
    public byte[] exportKey(UcxMemoryRight... given) {
        int bits = given.length == 0 ? rights : UcxMemoryRight.bits(given);
        if ((bits & ~rights) != 0) {
            throw new IllegalArgumentException("rights: " + UcxMemoryRight.of(bits) + " (expected: some of " + rights()
                    + ", which the region was made with)");
        }
        return MemoryKey.of(number, memory.length(), bits, secret).bytes().clone();
    }

    // ------------------------------------------------------------------------------------------- for its openings

    RegionMemory memory() {
        return memory;
    }

    boolean isRevoked() {
        return revoked;
    }

    /** @return {@code null} if there is none with this key */
    static UcxMemory find(MemoryKey key) {
        UcxMemory region = REGIONS.get(key.region());
        return region != null && key.isOf(region.secret) ? region : null;
    }

    /** @return whether the region can be opened */
    boolean add(Opening opening) {
        synchronized (openings) {
            return !revoked && openings.add(opening);
        }
    }

    void remove(Opening opening) {
        synchronized (openings) {
            openings.remove(opening);
        }
        releaseIfUnreachable();
    }

    /** Whether operations are under way is not seen here: each of them has a reference to the memory. */
    private void releaseIfUnreachable() {
        synchronized (openings) {
            if (!revoked || released || openings.stream().anyMatch(Opening::isDirect)) {
                return;
            }
            released = true;
        }
        memory.release();
    }

    // ------------------------------------------------------------------------------------------- the end

    /**
     * Ends the access of all peers. From now on the key cannot be opened, and what has not begun is refused. What is
     * under way goes on, and the memory stays until that is done.
     *
     * @return done when no peer has access any more, nothing is under way, and the memory has been given back. A peer that
     *         has attached the memory has to detach it first, and does so as soon as its event loop has taken the news. One
     *         that does not answer keeps its access until its channel ends. Neither is it given back while a thread of this
     *         process is in a native call with {@link #segment()}, as one that writes it to a file
     */
    public CompletableFuture<Void> revoke() {
        List<Opening> told;
        synchronized (openings) {
            // Once: each of these is a message to the peer, who may not take any for a while.
            told = revoked ? List.of() : List.copyOf(openings);
            revoked = true;
        }
        REGIONS.remove(number, this);
        told.forEach(Opening::revoked);
        releaseIfUnreachable();
        memory.completeIfOver();
        return memory.gone().copy();
    }

    /** {@linkplain #revoke() Revokes} it, and does not wait. */
    @Override
    public void close() {
        revoke();
    }

    @Override
    public String toString() {
        return "UcxMemory(" + memory.length() + " bytes, " + Objects.toString(rights()) + (revoked ? ", revoked)" : ")");
    }
}
