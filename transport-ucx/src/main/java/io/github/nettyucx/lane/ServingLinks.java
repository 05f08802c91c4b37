// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.Hello;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ServerLinks;

/**
 * The links of a loop, for one handshake of a serving side: as soon as it is known which link the client may choose,
 * there is somebody to take its messages, which can be faster than the end of the handshake.
 */
public final class ServingLinks implements ServerLinks {

    /** Makes the lane over a half, whose pin it takes over. */
    @FunctionalInterface
    interface LaneMaker {
        LinkLane make(LaneKind kind, OwnHalf half, ConnectionLimits limits);
    }

    private final LinkTable links;
    private final LaneMaker lanes;
    private ConnectionLimits limits;
    /** Why the client gets no link that it does not have; {@code null} if it does. */
    private String obstacle;
    private LinkLane prepared;

    ServingLinks(LinkTable links, LaneMaker lanes) {
        this.links = links;
        this.lanes = lanes;
    }

    /** What is announced to this client; to be told before a link is asked for. */
    public void limits(ConnectionLimits announced) {
        limits = announced;
    }

    /** From now on no link is made with this client: it is not told where this side's worker is. */
    public void refuse(String reason) {
        obstacle = reason;
    }

    /**
     * Takes the lane that was prepared, when the client has chosen it.
     *
     * @param half of the handshake's outcome, whose pin is given back: the lane has its own
     */
    public Lane take(LaneKind kind, LinkHalf half, Hello peer) {
        LinkLane lane = prepared;
        assert lane != null && lane.kind() == kind && lane.half() == half;
        half.release();
        lane.open(peer);
        prepared = null;
        return lane;
    }

    /** Gives back what was prepared and is not used. */
    public void close() {
        if (prepared != null) {
            LinkLane unused = prepared;
            prepared = null;
            unused.close(false);
        }
    }

    private LinkHalf prepare(LaneKind kind, LinkHalf half) {
        if (half == null) {
            return null;
        }
        close();
        OwnHalf own = ((OwnHalf) half).pinned();
        try {
            prepared = lanes.make(kind, own, limits);
        } catch (Throwable t) {
            own.release();
            own.release();
            throw t;
        }
        return half;
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client) {
        return prepare(lane, links.held(lane, client));
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
        if (prepared != null && prepared.kind() == lane && prepared.half().number() == own) {
            // The client's choice of what was named to it, which is held for it, whether others may still use it or not.
            return prepared.half().isWith(theirs) ? prepared.half().pinned() : null;
        }
        return prepare(lane, links.held(lane, client, own, theirs));
    }

    @Override
    public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] address) throws LinkException {
        if (obstacle != null) {
            throw new LinkException(obstacle);
        }
        return prepare(lane, links.accept(lane, client, theirs, address));
    }

    @Override
    public void confirm(LinkHalf half) {
        links.confirm(half);
    }
}
