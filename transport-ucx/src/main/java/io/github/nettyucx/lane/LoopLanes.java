// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.Hello;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.Links;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.library.UcxVersion;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.LinkKind;
import io.github.nettyucx.worker.Preparation;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.UcxRuntime;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The lanes of one event loop: what it moves bytes with, and the links that it has to peers. Only the loop's thread
 * calls.
 */
public final class LoopLanes implements AutoCloseable {

    /** Made with the first connection, and the same for all loops. */
    private static final class Process {

        private static final long NUMBER = KernelRandom.nextLong();
        private static volatile ProcessIdentity known;

        /** @return {@code null} if it cannot be found out now */
        static ProcessIdentity identity() {
            return known != null ? known : findOut();
        }

        private static synchronized ProcessIdentity findOut() {
            if (known == null) {
                try {
                    known = ProcessIdentity.own(NUMBER, KernelRandom::nextLong);
                } catch (IOException e) {
                    logger.debug("Who this process is cannot be found out now.", e);
                }
            }
            return known;
        }

        /** Until it is known. */
        static ProcessIdentity apart() {
            return ProcessIdentity.apart(NUMBER, KernelRandom::nextLong);
        }
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopLanes.class);

    /** Of sockets whose peers are being told why they were refused. More at a time are closed without that. */
    private static final int MAX_FAREWELLS = 256;

    private final ProgressEngine engine;
    private final LinkTable links;
    private final Set<Farewell> farewells = new HashSet<>();
    private final Set<Departure> departures = new LinkedHashSet<>();
    /** Drawn with the first connection: which loop of its process this is. */
    private long number;
    private Party party;

    public LoopLanes(ProgressEngine engine) {
        this.engine = engine;
        links = new LinkTable(new UcxLinks(engine), engine::schedule, KernelRandom::nextLong, System::nanoTime);
        engine.addCollector(links);
    }

    /** @throws IllegalArgumentException if a system property for how loops send and receive is wrong */
    public static void checkSettings() {
        ProgressEngine.checkSettings();
        Gathering.ZERO_COPY_SETTING.check();
        Gathering.REGISTRATION_SETTING.check();
    }

    public ProgressEngine engine() {
        return engine;
    }

    /** The links, for a connecting side's handshake. */
    public Links links() {
        return links;
    }

    /** Who this loop is for its peers. */
    public Party party() {
        if (party == null) {
            if (number == 0) {
                number = KernelRandom.nextLong();
            }
            ProcessIdentity process = Process.identity();
            if (process == null) {
                return new Party(Process.apart(), number);
            }
            party = new Party(process, number);
        }
        return party;
    }

    // ------------------------------------------------------------------------------------------- what can be had

    /**
     * Which of the lanes this process can have at all.
     *
     * @param available a bit for each lane that can be had
     * @param reasons   why the others cannot
     */
    public record Supply(int available, Map<LaneKind, String> reasons, int ucxVersion) {
    }

    /**
     * Begins to make ready in the background what connections need that may take these lanes.
     *
     * @param lanes as {@link LaneSet#parse} takes them; {@code null} for the default. Of what is wrong with them channels
     *              complain
     * @param last  what is done when UCX is ready, if there is one
     */
    public static void prepare(String lanes, Runnable last) {
        // No lambda: the virtual machine would make a class for it before anything is begun.
        Preparation.begin(new Supplier<>() {
            @Override
            public List<LinkKind> get() {
                return kinds(lanes);
            }
        }, last);
    }

    private static List<LinkKind> kinds(String lanes) {
        List<LinkKind> kinds = new ArrayList<>();
        try {
            for (LaneKind lane : (lanes == null ? LaneSet.DEFAULT : LaneSet.parse(lanes)).kinds()) {
                if (lane != LaneKind.SOCKET) {
                    kinds.add(UcxLinks.kindOf(lane));
                }
            }
        } catch (IllegalArgumentException e) {
            kinds.clear();
        }
        return kinds;
    }

    /** Loads UCX if one of these lanes needs it. */
    public static Supply supply(LaneSet lanes) {
        int available = 0;
        Map<LaneKind, String> reasons = new EnumMap<>(LaneKind.class);
        int version = 0;
        for (LaneKind lane : lanes.kinds()) {
            String reason = lane == LaneKind.SOCKET ? null : UcxRuntime.unavailability(UcxLinks.kindOf(lane));
            if (reason != null) {
                reasons.put(lane, reason);
                continue;
            }
            available |= lane.bit();
            if (lane != LaneKind.SOCKET) {
                UcxVersion loaded = UcxLibrary.load().version();
                version = loaded.major() << 24 | loaded.minor() << 16 | loaded.release();
            }
        }
        return new Supply(available, reasons, version);
    }

    // ------------------------------------------------------------------------------------------- lanes

    /** The bytes go over the control socket itself. */
    public SocketLane socketLane(KernelSocket socket, Traffic traffic, ByteBuf firstBytes) {
        return new SocketLane(socket, engine, traffic, firstBytes);
    }

    /** A connecting side's lane over a link, whose pin it takes over. */
    public Lane linkLane(LaneKind kind, LinkHalf half, Hello peer, KernelSocket control, ConnectionLimits limits,
                         Allocation stash, Traffic traffic) {
        LinkLane lane = null;
        try {
            lane = newLinkLane(kind, (OwnHalf) half, control, limits, stash, traffic);
            lane.open(peer);
            return lane;
        } catch (Throwable t) {
            if (lane != null) {
                lane.close(false);
            } else {
                half.release();
            }
            throw t;
        }
    }

    private LinkLane newLinkLane(LaneKind kind, OwnHalf half, KernelSocket control, ConnectionLimits limits,
                                 Allocation stash, Traffic traffic) {
        return new LinkLane(kind, half, control, limits, engine.sendBuffers(UcxLinks.kindOf(kind)), engine.pipes(),
                stash, traffic);
    }

    /** The links, for one handshake of a serving side. */
    public ServingLinks servingLinks(KernelSocket control, Allocation stash, Traffic traffic) {
        return new ServingLinks(links,
                (kind, half, limits) -> newLinkLane(kind, half, control, limits, stash, traffic));
    }

    // ------------------------------------------------------------------------------------------- refusals

    /**
     * Closes a socket so that the peer gets what was said to him last.
     *
     * @param socket that this loop watches; it belongs to the farewell from now on
     * @param words  that were not sent yet
     */
    public Farewell farewell(KernelSocket socket, Queue<ByteBuf> words) {
        Farewell farewell = new Farewell(this, socket, words);
        if (farewells.size() < MAX_FAREWELLS) {
            farewells.add(farewell);
            engine.rewatch(socket, farewell);
            farewell.socketReady(0);
        } else {
            farewell.end();
        }
        return farewell;
    }

    void ended(Farewell farewell) {
        farewells.remove(farewell);
    }

    // ------------------------------------------------------------------------------------------- departures

    /** Takes note of a stream that ends in the background, until {@link #departed}. */
    public void departs(Departure departure) {
        departures.add(departure);
    }

    public void departed(Departure departure) {
        departures.remove(departure);
    }

    /** Those that are not over. */
    public List<Departure> departures() {
        return List.copyOf(departures);
    }

    public boolean hasDepartures() {
        return !departures.isEmpty();
    }

    /** Closes all links. All channels must have been closed. */
    @Override
    public void close() {
        departures().forEach(Departure::cut);
        links.close();
        List.copyOf(farewells).forEach(Farewell::end);
    }
}
