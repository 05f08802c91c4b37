// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** A tagged message on its way. */
final class FakeMessage {

    enum Fate {
        /** Not received yet. */
        OPEN,
        /** Its bytes are being fetched. */
        FETCHING,
        /** Its bytes lie where the receiver wanted them. */
        IN_MEMORY,
        /** The receiver did not want it. */
        DROPPED,
        /** It could not be received. */
        LOST
    }

    final FakePort sender;
    final long tag;
    final long length;
    /** Of an eager message, when UCX has read them. */
    private byte[] bytes;
    /** Where a rendezvous finds its bytes, and what completes when it has. */
    private FakePort.Send source;
    private Fate fate = Fate.OPEN;
    private boolean probed;

    FakeMessage(FakePort sender, long tag, long length) {
        this.sender = sender;
        this.tag = tag;
        this.length = length;
    }

    /** Of the receiver. */
    int channelId() {
        return (int) (tag >>> 32);
    }

    void carry(byte[] content) {
        bytes = content;
    }

    void announce(FakePort.Send rendezvous) {
        source = rendezvous;
    }

    boolean isRendezvous() {
        return source != null;
    }

    FakePort.Send source() {
        return source;
    }

    byte[] bytes() {
        return bytes;
    }

    /** Whether it can leave the sender. */
    boolean isLaunched() {
        return bytes != null || source != null;
    }

    /** The receiver's worker has found it. */
    void probed() {
        probed = true;
    }

    boolean isProbed() {
        return probed;
    }

    Fate fate() {
        return fate;
    }

    void become(Fate next) {
        fate = next;
    }

    boolean isData() {
        return Tag.type(tag) == Tag.DATA;
    }

    @Override
    public String toString() {
        String name = switch (Tag.type(tag)) {
            case Tag.DATA -> "DATA";
            case Tag.CREDIT -> "CREDIT";
            case Tag.FIN -> "FIN";
            case Tag.FIN_ACK -> "FIN_ACK";
            case Tag.COUNT -> "COUNT";
            default -> "type " + Tag.type(tag);
        };
        return sender.name() + ':' + name + '(' + length + " bytes, value " + Tag.value(tag)
                + (isRendezvous() ? ", rendezvous)" : ")");
    }
}
