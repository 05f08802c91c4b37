// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.ClientHandshake;
import io.github.nettyucx.handshake.Handshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkReach;
import io.github.nettyucx.handshake.LinkRequest;
import io.github.nettyucx.handshake.Links;
import io.github.nettyucx.handshake.Nearness;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.handshake.ServerHandshake;
import io.github.nettyucx.handshake.SharedSecret;
import io.github.nettyucx.handshake.Terms;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.KernelRandom;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

import java.io.UncheckedIOException;
import java.io.IOException;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;

/** What two peers say to each other before a connection is open, byte by byte, and what somebody might make of it. */
public final class HandshakeBytes {

    static final int HELLO_LENGTH = 256;
    static final int ANSWER_LENGTH = 304;
    /** Where things stand in HELLO and in ANSWER. */
    static final int VERSION = 8;
    static final int LENGTH = 10;
    static final int UCX_VERSION = 12;
    static final int CHANNEL_ID = 68;
    static final int WINDOW = 72;
    static final int MAX_MESSAGE = 76;
    static final int LOCAL = 112;
    static final int REMOTE = 130;

    static final int OFFER = 1;
    static final int GO = 3;
    static final int REFUSE = 4;
    /** Where things stand in OFFER and in GO. */
    static final int PROOF = 4;
    static final int PROOF_LENGTH = 32;
    static final int ADDRESS = 56;

    private static final int WINDOW_BYTES = 1024 * 1024;

    private HandshakeBytes() {
    }

    /** What a process of this host says of itself that is not this one; with the addresses of its socket, or null. */
    static Terms terms(String lanes, SharedSecret secret, InetSocketAddress local, InetSocketAddress remote) {
        return terms(newParty(), 0x12345678, lanes, secret, local, remote);
    }

    static Party newParty() {
        try {
            return new Party(ProcessIdentity.own(KernelRandom.nextLong(), KernelRandom::nextLong), KernelRandom.nextLong());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Terms terms(Party party, int channelId, String lanes, SharedSecret secret, InetSocketAddress local,
                       InetSocketAddress remote) {
        return terms(party, channelId, lanes, secret, local, remote, KernelNearness.INSTANCE);
    }

    static Terms terms(Party party, int channelId, String lanes, SharedSecret secret, InetSocketAddress local,
                       InetSocketAddress remote, Nearness nearness) {
        LaneSet set = LaneSet.parse(lanes);
        return new Terms(set, set.mask(), Map.of(), LoopLanes.supply(set).ucxVersion(), party, secret, false, channelId,
                WINDOW_BYTES, WINDOW_BYTES / 4, local, remote, nearness);
    }

    /** A HELLO that is as it should be. */
    public static byte[] hello(String lanes) {
        return hello(terms(lanes, null, null, null));
    }

    static byte[] hello(Terms terms) {
        Scribe scribe = new Scribe();
        new ClientHandshake(terms, new NoLinks(), scribe, KernelRandom::fill).start();
        return scribe.said();
    }

    /** What a server answers to a HELLO. */
    static byte[] answer(byte[] hello, Terms terms) {
        Scribe scribe = new Scribe();
        ServerHandshake server = new ServerHandshake(() -> terms, new NoLinks(), scribe, KernelRandom::fill);
        server.received(Unpooled.wrappedBuffer(hello));
        return scribe.said();
    }

    /** The sender's address as HELLO has it. */
    static InetSocketAddress localOf(byte[] hello) {
        return addressAt(hello, LOCAL);
    }

    /** The receiver's address as HELLO has it. */
    static InetSocketAddress remoteOf(byte[] hello) {
        return addressAt(hello, REMOTE);
    }

    private static InetSocketAddress addressAt(byte[] hello, int offset) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(Arrays.copyOfRange(hello, offset, offset + 16)),
                    Short.toUnsignedInt(ByteBuffer.wrap(hello).getShort(offset + 16)));
        } catch (UnknownHostException e) {
            throw new AssertionError("sixteen bytes are always an address", e);
        }
    }

    static byte[] with16(byte[] frame, int offset, int value) {
        byte[] changed = frame.clone();
        ByteBuffer.wrap(changed).putShort(offset, (short) value);
        return changed;
    }

    static byte[] with32(byte[] frame, int offset, int value) {
        byte[] changed = frame.clone();
        ByteBuffer.wrap(changed).putInt(offset, value);
        return changed;
    }

    /** All that a client says who gets lane socket: HELLO and GO. */
    static byte[] conversation() {
        Scribe client = new Scribe();
        Scribe server = new Scribe();
        ClientHandshake asking = new ClientHandshake(terms("socket", null, null, null), new NoLinks(), client,
                KernelRandom::fill);
        Terms answers = terms("socket", null, null, null);
        ServerHandshake answering = new ServerHandshake(() -> answers, new NoLinks(), server, KernelRandom::fill);
        asking.start();
        answering.received(Unpooled.wrappedBuffer(client.said()));
        asking.received(Unpooled.wrappedBuffer(server.said()));
        if (!client.opened) {
            throw new AssertionError("the two do not agree");
        }
        return client.said();
    }

    /** An OFFER of a new link, or a GO: both begin with the client's proof. */
    static byte[] withProof(int type, byte[] proof, int length) {
        byte[] frame = with16(new byte[length], 2, length);
        frame[0] = (byte) type;
        System.arraycopy(proof, 0, frame, PROOF, proof.length);
        // A kind of OFFER, and a lane.
        frame[PROOF + proof.length] = 1;
        // Numbers of halves.
        return with32(with32(frame, ADDRESS - 16, 1), ADDRESS - 8, 1);
    }

    /** Keeps what one side says. */
    private static final class Scribe implements Handshake.Owner {

        private final ByteArrayOutputStream said = new ByteArrayOutputStream();
        private boolean opened;

        byte[] said() {
            return said.toByteArray();
        }

        @Override
        public void send(ByteBuf frame) {
            said.writeBytes(ByteBufUtil.getBytes(frame));
            frame.release();
        }

        @Override
        public void opened(Outcome outcome) {
            opened = true;
        }

        @Override
        public void failed(HandshakeException cause) {
            throw new AssertionError(cause);
        }
    }

    /** Of a side that has none, and gets none. */
    static class NoLinks implements Links {

        private static final String NONE = "there are no links here";

        @Override
        public LinkHalf held(LaneKind lane, Party client) {
            return null;
        }

        @Override
        public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
            return null;
        }

        @Override
        public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] address) {
            throw new AssertionError(NONE);
        }

        @Override
        public void confirm(LinkHalf half) {
            throw new AssertionError(NONE);
        }

        @Override
        public LinkHalf match(LaneKind lane, Party server, long theirs) {
            return null;
        }

        @Override
        public void request(LaneKind lane, Party server, LinkRequest request) {
            request.unavailable(NONE);
        }

        @Override
        public LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException {
            throw new AssertionError(NONE);
        }

        @Override
        public void reach(LinkHalf completed, LinkReach asking) {
            asking.reached();
        }

        @Override
        public void abandon(LinkHalf offered, boolean told) {
            throw new AssertionError(NONE);
        }

        @Override
        public void stale(LinkHalf half) {
            throw new AssertionError(NONE);
        }

        @Override
        public void withdraw(LinkRequest request) {
            // None waits.
        }
    }
}
