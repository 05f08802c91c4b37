// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;

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
                    ChannelEvents ChannelInput ChannelInput$State ChannelMemory ChannelOutput ChannelSocket
                    ChannelState ClientOpening$Step Closing Connecting ConnectionMetrics HalfClose IoDriver$2
                    KeepAlive LaneWork OpenConnection OrderlyExit ServerOpening ServerOpening$1
                    UcxSocketChannel$UcxSocketUnsafe UcxSocketChannelConfig"""),
            new Room("handshake", """
                    Answer ClientHandshake$1 ClientHandshake$Request ClientHandshake$State FrameType Go Half
                    Half$Status Handshake$Step Hello LaneChoice LinkRequest Offer Outcome Party PeerText
                    ProcessIdentity Proofs ServerHandshake ServerHandshake$1 ServerHandshake$Client
                    ServerHandshake$State Side Terms"""),
            new Room("lane", """
                    Allocation ConnectionLimits Departure FlushedBuffers LaneListener LinkLane LinkMemory LinkOutput
                    LinkOutput$FlushedBytes LinkTable$Failure LinkTable$Half LinkTable$Half$State LinkTable$Peer
                    LoopLanes$Process LoopLanes$Supply PeerKey ServingLinks ServingLinks$LaneMaker Written"""),
            new Room("memory", """
                    MemoryExchange$Host MemoryExchange$NotificationListener"""),
            new Room("socket", """
                    SocketAddresses"""),
            new Room("ucp", """
                    EndpointErrorHandler NativeMemory UcpEndpoint UcpEndpoint$Transport UcpEndpointParams UcpRequest
                    UcpRequestParam UcpTag UcpWorker UcpWorkerParams UcsThreadMode UpcallRegistry$Entry"""),
            new Room("wire", """
                    Connection Connection$State ConnectionListener Inbound Inbound$Allocation Inbound$State
                    MemoryMessages Outbound Outbound$State ProtocolException SizeClass Tag Traffic TrafficCounter
                    Window"""),
            new Room("worker", """
                    BufferAddress EndpointListener EndpointPort InFlight Link Link$State LinkPort MessageSink
                    Orphans Polled ProgressEngine$WorkerKey ReceiveBuffer RegisteredMemory WatchedSockets$Watch"""));

    private static final int PAGE = 8 * 1024;
    private static final int FRAME = 512;

    @Override
    public void run() {
        ClassLoader loader = FirstConnection.class.getClassLoader();
        for (Room room : ROOMS) {
            for (String name : room.classes.split("\\s+")) {
                load(OURS + room.name + '.' + name, loader);
            }
        }
        loadBuffers();
    }

    /**
     * The class is verified, which takes about as long as to load it. It is not initialized: two threads that initialize two
     * classes may each wait for the other.
     */
    static Class<?> load(String name, ClassLoader loader) {
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

    /** Netty's classes have other names in some of its copies; so they are used. Not with memory that loops share. */
    private static void loadBuffers() {
        Unpooled.directBuffer(FRAME, FRAME).release();
        if (ByteBufAllocator.DEFAULT instanceof PooledByteBufAllocator) {
            new PooledByteBufAllocator(true, 0, 1, PAGE, 0, 0, 0, false).directBuffer(FRAME).release();
        }
    }
}
