// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/** How application threads get messages to the other side. */
enum MessagingWay {
    /** {@code Peer.send} and {@code Peer.request} of the messaging module, in threads of the application. */
    MESSAGING("messaging"),
    /** {@code Peer.requestAsync} in its callback, on the event loop. */
    MESSAGING_LOOP("messaging, on the loop"),
    /** {@code Channel.writeAndFlush} in threads of the application, which wait while the channel is not writable. */
    WRITE_AND_FLUSH("writeAndFlush");

    private final String title;

    MessagingWay(String title) {
        this.title = title;
    }

    @Override
    public String toString() {
        return title;
    }
}
