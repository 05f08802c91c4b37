// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

/** A tagged message on its way between two workers. */
final class FakeMessage {

    enum Fate {
        /** Not received yet, or its bytes are being fetched. */
        OPEN,
        /** Its bytes lie where the receiver wanted them. */
        IN_MEMORY,
        /** The receiver did not want it. */
        DROPPED
    }

    final FakeEndpoint sender;
    final long tag;
    final int length;
    /** Of an eager message, when UCX has read them. */
    byte[] bytes;
    /** Where a rendezvous finds its bytes, and what completes when it has; {@code null} for an eager message. */
    FakeEndpoint.Send source;
    Fate fate = Fate.OPEN;
    /** Its sender has died in the middle of it: the rest never comes. */
    boolean torn;

    FakeMessage(FakeEndpoint sender, long tag, int length) {
        this.sender = sender;
        this.tag = tag;
        this.length = length;
    }

    int channelId() {
        return (int) (tag >>> 32);
    }

    int type() {
        return (int) (tag >>> 28) & 0xf;
    }

    /** Whether it can leave the sender. */
    boolean isLaunched() {
        return bytes != null || source != null;
    }

    @Override
    public String toString() {
        return (torn ? "torn " : "") + (source == null ? "eager" : "rendezvous") + " message of type " + type() + " and "
                + length + " bytes to " + channelId();
    }
}
