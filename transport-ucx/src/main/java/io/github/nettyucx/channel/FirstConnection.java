// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.Nearness;
import io.netty.buffer.ByteBuf;

import java.util.List;

/**
 * Has the classes loaded that the first connection needs, on whichever side. Otherwise both sides load them in the handshake,
 * one after the other: each waits for the other's. Which they are has been seen in the JVM's log of classes. One that is
 * missing here is loaded when it is needed.
 */
final class FirstConnection implements Runnable {

    private static final String OURS = "io.github.nettyucx.";

    /**
     * @param name    of a package below ours
     * @param classes with blanks between them
     */
    record Room(String name, String classes) {
    }

    static final List<Room> ROOMS = List.of(
            new Room("channel", """
                    ChannelInput ChannelInput$State ChannelMemory ChannelOutput ChannelSocket
                    ChannelState ClientOpening ClientOpening$Again ClientOpening$Attempt ClientOpening$Step Closing
                    Connecting ConnectionMetrics HalfClose IoDriver$2 KeepAlive KernelNearness LaneWork Linger
                    Neighbours OpenConnection Opening OrderlyExit ServerOpening ServerOpening$1 SilentServers
                    UcxSocketChannel$UcxSocketUnsafe UcxSocketChannelConfig"""),
            new Room("handshake", """
                    Answer ClientHandshake ClientHandshake$1 ClientHandshake$Reach ClientHandshake$Request
                    ClientHandshake$State FrameType Go Half Half$Status Handshake Handshake$Owner Handshake$Step Hello
                    LaneChoice LinkException LinkHalf LinkReach LinkRequest Links Nearness Nearness$Sign Offer Outcome
                    Party PeerText ProcessIdentity Proofs ServerHandshake ServerHandshake$1 ServerHandshake$Client
                    ServerHandshake$State ServerLinks Side Terms"""),
            new Room("lane", """
                    Allocation ConnectionLimits Departure Farewell FilePipe FlushedOutput LaneListener LinkFactory
                    LinkFailures LinkFailures$1 LinkLane LinkMemory LinkOutput LinkOutput$FlushedBytes LinkTable
                    LinkTable$Peer LinkWorkers LoopLanes LoopLanes$Process LoopLanes$Supply OwnHalf OwnHalf$State PeerKey
                    ServingLinks ServingLinks$LaneMaker UcxLinks UcxLinks$1 WaitingRequests Written"""),
            new Room("memory", """
                    MemoryExchange$Host MemoryExchange$NotificationListener"""),
            new Room("socket", """
                    AbstractName AutoboundSockets PresenceSign SocketAddresses"""),
            new Room("ucp", """
                    EndpointErrorHandler UcpEndpoint UcpEndpoint$Transport UcpEndpointParams UcpRequest
                    UcpRequestParam UcpTag UcpWorker UcpWorkerParams UcsThreadMode UpcallRegistry$Entry"""),
            new Room("wire", """
                    Connection Connection$State ConnectionListener Inbound Inbound$Allocation Inbound$State
                    MemoryMessages MessageCount MessageRing Outbound Outbound$State ProtocolException SizeClass Tag
                    Traffic TrafficCounter Window"""),
            new Room("worker", """
                    Arrivals BufferAddress Endings EndpointListener EndpointPort InFlight Link Link$State LinkPort
                    MessageSink Orphans PeriodicLooks Polled ProgressEngine$WorkerKey ReceiveBuffer RegisteredMemory
                    WatchedSockets$Watch Worker WorkerPort"""));

    /** Netty's, which differ between its releases. */
    private static final String BUFFERS = """
            AbstractByteBufAllocator$1 AbstractDerivedByteBuf AbstractPooledDerivedByteBuf
            AbstractReferenceCountedByteBuf$1 AbstractUnpooledSlicedByteBuf AbstractUnsafeSwappedByteBuf
            DuplicatedByteBuf FixedCompositeByteBuf HeapByteBufUtil IntPriorityQueue LongLongHashMap PoolArena$1
            PoolArena$DirectArena PoolArena$SizeClass PoolChunk PoolChunkList PoolChunkMetric PoolSubpage
            PoolThreadCache PoolThreadCache$1 PoolThreadCache$FreeOnFinalize PoolThreadCache$MemoryRegionCache
            PoolThreadCache$MemoryRegionCache$1 PoolThreadCache$MemoryRegionCache$Entry
            PoolThreadCache$NormalMemoryRegionCache PoolThreadCache$SubPageMemoryRegionCache
            PooledByteBufAllocator PooledDuplicatedByteBuf PooledSlicedByteBuf PooledUnsafeDirectByteBuf
            PooledUnsafeDirectByteBuf$1 ReadOnlyByteBuf ReadOnlyByteBufferBuf ReadOnlyUnsafeDirectByteBuf
            SizeClasses SwappedByteBuf Unpooled UnpooledByteBufAllocator
            UnpooledByteBufAllocator$InstrumentedUnpooledDirectByteBuf
            UnpooledByteBufAllocator$InstrumentedUnpooledHeapByteBuf
            UnpooledByteBufAllocator$InstrumentedUnpooledUnsafeDirectByteBuf
            UnpooledByteBufAllocator$InstrumentedUnpooledUnsafeHeapByteBuf
            UnpooledByteBufAllocator$InstrumentedUnpooledUnsafeNoCleanerDirectByteBuf
            UnpooledByteBufAllocator$UnpooledByteBufAllocatorMetric UnpooledDuplicatedByteBuf
            UnpooledSlicedByteBuf UnpooledUnsafeNoCleanerDirectByteBuf UnreleasableByteBuf UnsafeByteBufUtil
            UnsafeDirectSwappedByteBuf WrappedUnpooledUnsafeDirectByteBuf""";

    @Override
    public void run() {
        // The first digest of a process has Java set up its providers of security: some 15 ms on the machine where it was measured.
        Nearness.digest(new byte[0], new byte[0]);
        ClassLoader loader = FirstConnection.class.getClassLoader();
        for (Room room : ROOMS) {
            load(OURS + room.name, room.classes, loader);
        }
        // A copy of Netty has packages of other names.
        load(ByteBuf.class.getPackageName(), BUFFERS, ByteBuf.class.getClassLoader());
    }

    private static void load(String room, String classes, ClassLoader loader) {
        for (String name : classes.split("\\s+")) {
            loadOne(room + '.' + name, loader);
        }
    }

    /**
     * The class is verified, which takes about as long as to load it. It is not initialized: that is for who uses it, and two
     * threads that initialize two classes may each wait for the other.
     */
    static Class<?> loadOne(String name, ClassLoader loader) {
        try {
            Class<?> loaded = Class.forName(name, false, loader);
            // Has the virtual machine link it.
            loaded.getDeclaredConstructors();
            return loaded;
        } catch (ClassNotFoundException | LinkageError e) {
            // Who needs it finds out for himself.
            return null;
        }
    }
}
