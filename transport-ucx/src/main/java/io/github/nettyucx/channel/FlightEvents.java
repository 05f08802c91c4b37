// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * What the transport tells the JVM's flight recorder. The names and fields stand in {@code docs/metrics.md}.
 * <p>
 * Nobody must touch the classes in here where {@link #AVAILABLE} is false.
 */
final class FlightEvents {

    /** A JVM may have been linked without the module {@code jdk.jfr}. */
    static final boolean AVAILABLE = isAvailable();

    private static final String CATEGORY = "Netty UCX";

    private FlightEvents() {
    }

    /**
     * Whether anybody may be recording. As long as nobody has begun to, the classes of events are not loaded: the first of
     * them has the virtual machine load its flight recorder.
     */
    private static boolean isRecorderThere() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    private static boolean isAvailable() {
        try {
            Class.forName("jdk.jfr.Event", false, FlightEvents.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    @Name("io.github.nettyucx.ConnectionOpened")
    @Label("UCX Connection Opened")
    @Category(CATEGORY)
    @StackTrace(false)
    static final class ConnectionOpened extends Event {
        @Label("Channel")
        String channel;
        @Label("Local Address")
        String local;
        @Label("Remote Address")
        String remote;
        @Label("Accepted")
        @Description("Whether this side is the server's")
        boolean accepted;
        @Label("Lane")
        String lane;
        @Label("Transports")
        @Description("All transports that serve the connection, with their devices")
        String transports;
    }

    @Name("io.github.nettyucx.ConnectionClosed")
    @Label("UCX Connection Closed")
    @Category(CATEGORY)
    @StackTrace(false)
    static final class ConnectionClosed extends Event {
        @Label("Channel")
        String channel;
        @Label("Remote Address")
        String remote;
        @Label("Lane")
        String lane;
        @Label("Reason")
        String reason;
        @Label("Open For")
        @Timespan
        long openFor;
        @Label("Bytes Sent")
        @DataAmount
        long bytesSent;
        @Label("Bytes Received")
        @DataAmount
        long bytesReceived;
        @Label("Messages Sent")
        long messagesSent;
        @Label("Messages Received")
        long messagesReceived;
        @Label("Credit Waits")
        long creditWaits;
    }

    @Name("io.github.nettyucx.HandshakeFailed")
    @Label("UCX Handshake Failed")
    @Category(CATEGORY)
    @StackTrace(false)
    static final class HandshakeFailed extends Event {
        @Label("Channel")
        String channel;
        @Label("Remote Address")
        String remote;
        @Label("Accepted")
        @Description("Whether this side is the server's")
        boolean accepted;
        @Label("Reason")
        String reason;
        @Label("Cause")
        @Description("The message of the exception, if there is one")
        String cause;
    }

    @Name("io.github.nettyucx.LoopParked")
    @Label("UCX Event Loop Parked")
    @Category(CATEGORY)
    @StackTrace(false)
    @Enabled(false)
    @Threshold("10 ms")
    static final class LoopParked extends Event {
        @Label("Woken")
        @Description("Whether another thread ended the sleep, rather than UCX, a socket or a timer")
        boolean woken;
    }

    // ------------------------------------------------------------------------------------------- recording

    static void handshakeFailed(String channel, Object remote, boolean accepted, Enum<?> reason, Throwable cause) {
        if (isRecorderThere()) {
            HandshakeFailed event = new HandshakeFailed();
            if (event.shouldCommit()) {
                event.channel = channel;
                event.remote = String.valueOf(remote);
                event.accepted = accepted;
                event.reason = reason.name();
                event.cause = cause == null ? null : cause.getMessage();
                event.commit();
            }
        }
    }

    static void opened(UcxSocketChannel channel) {
        if (isRecorderThere()) {
            ConnectionOpened event = new ConnectionOpened();
            if (event.shouldCommit()) {
                event.channel = channel.id().asShortText();
                event.local = String.valueOf(channel.localAddress());
                event.remote = String.valueOf(channel.remoteAddress());
                event.accepted = channel.isAccepted();
                event.lane = channel.lane();
                event.transports = String.join(",", channel.transports());
                event.commit();
            }
        }
    }

    static void closed(UcxSocketChannel channel, Enum<?> reason, long openNanos) {
        if (isRecorderThere()) {
            ConnectionClosed event = new ConnectionClosed();
            if (event.shouldCommit()) {
                UcxTraffic traffic = channel.metrics();
                event.channel = channel.id().asShortText();
                event.remote = String.valueOf(channel.remoteAddress());
                event.lane = channel.lane();
                event.reason = reason.name();
                event.openFor = openNanos;
                event.bytesSent = traffic.bytesSent();
                event.bytesReceived = traffic.bytesReceived();
                event.messagesSent = traffic.messagesSent();
                event.messagesReceived = traffic.messagesReceived();
                event.creditWaits = traffic.creditWaits();
                event.commit();
            }
        }
    }

    /** One loop's sleeps, of which there are many: nothing is made as long as nobody records them. */
    static final class Sleep {

        private LoopParked probe;
        private LoopParked event;

        void begins() {
            if (probe == null && isRecorderThere()) {
                probe = new LoopParked();
            }
            if (probe != null && probe.isEnabled()) {
                event = new LoopParked();
                event.begin();
            }
        }

        void ends(boolean woken) {
            if (event != null) {
                event.woken = woken;
                event.commit();
                event = null;
            }
        }
    }
}
