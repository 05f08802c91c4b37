// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;

/** What the sides of a test bring along: two processes of one host with everything, unless a test says otherwise. */
final class TestTerms {

    static final int UCX_1_22_0 = 1 << 24 | 22 << 16;
    static final int CLIENT_ID = 0xc11e0001;
    static final int SERVER_ID = 0x5e700001;
    static final int WINDOW = 0x100000;
    static final int MAX_MESSAGE = 0x40000;
    static final InetSocketAddress CLIENT_ADDRESS = new InetSocketAddress("10.1.2.4", 40_000);
    static final InetSocketAddress SERVER_ADDRESS = new InetSocketAddress("10.1.2.4", 8_080);
    static final Party CLIENT = new Party(new ProcessIdentity(0x11, 0x22, 0x33, 0x44, 0xc0), 0xc1);
    static final Party SERVER = new Party(new ProcessIdentity(0x11, 0x22, 0x33, 0x44, 0x50), 0x51);

    private final Map<LaneKind, String> unavailable = new EnumMap<>(LaneKind.class);
    private LaneSet lanes = LaneSet.DEFAULT;
    private int ucxVersion = UCX_1_22_0;
    private Party party;
    private SharedSecret secret;
    private boolean translatedAddresses;
    private int channelId;
    private InetSocketAddress local;
    private InetSocketAddress remote;
    private Nearness nearness = new FakeNearness();

    static TestTerms client() {
        return new TestTerms().party(CLIENT).id(CLIENT_ID).addresses(CLIENT_ADDRESS, SERVER_ADDRESS);
    }

    static TestTerms server() {
        return new TestTerms().party(SERVER).id(SERVER_ID).addresses(SERVER_ADDRESS, CLIENT_ADDRESS);
    }

    TestTerms lanes(String text) {
        lanes = LaneSet.parse(text);
        return this;
    }

    TestTerms without(LaneKind kind, String reason) {
        unavailable.put(kind, reason);
        return this;
    }

    TestTerms ucx(int version) {
        ucxVersion = version;
        return this;
    }

    TestTerms party(Party value) {
        party = value;
        return this;
    }

    TestTerms process(long host, long network, long ipc, long pid) {
        return party(new Party(new ProcessIdentity(host, network, ipc, pid, party.process().process()),
                party.engine()));
    }

    TestTerms secret(String text) {
        secret = text == null ? null : SharedSecret.of(text.getBytes(StandardCharsets.UTF_8));
        return this;
    }

    TestTerms translatedAddresses() {
        translatedAddresses = true;
        return this;
    }

    TestTerms id(int value) {
        channelId = value;
        return this;
    }

    TestTerms addresses(InetSocketAddress own, InetSocketAddress theirs) {
        local = own;
        remote = theirs;
        return this;
    }

    TestTerms near(Nearness value) {
        nearness = value;
        return this;
    }

    Terms build() {
        int available = 0;
        for (LaneKind kind : LaneKind.values()) {
            available |= unavailable.containsKey(kind) ? 0 : kind.bit();
        }
        return new Terms(lanes, available, unavailable, ucxVersion, party, secret, translatedAddresses, channelId,
                WINDOW, MAX_MESSAGE, local, remote, nearness);
    }

    /** What the peer gets to know. */
    Hello hello() {
        return build().hello(new byte[Hello.NONCE_LENGTH]);
    }
}
