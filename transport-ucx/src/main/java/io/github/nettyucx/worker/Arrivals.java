// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpTag;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;

/** The messages that have arrived at a worker, and the channels that they are for. */
final class Arrivals {

    /** How many one turn takes at most, so that tasks and other workers get their share. */
    private static final int LIMIT = 256;

    private final Worker worker;
    private final long handle;
    private final long messageInfo;
    private final IntObjectMap<MessageSink> sinks = new IntObjectHashMap<>();
    /** The channel of the last message: in most turns it is the channel of the next one, too. */
    private int lastId;
    private MessageSink lastSink;
    /** The message that a sink is being given, as long as nobody has received it; or 0. */
    private long offered;
    private int taken;
    private boolean remain;

    /**
     * @param handle      of the worker
     * @param messageInfo where UCX writes what it tells of a message
     */
    Arrivals(Worker worker, long handle, long messageInfo) {
        this.worker = worker;
        this.handle = handle;
        this.messageInfo = messageInfo;
    }

    void register(int channelId, MessageSink sink) {
        sinks.put(channelId, sink);
    }

    void unregister(int channelId) {
        sinks.remove(channelId);
        if (lastId == channelId) {
            lastSink = null;
        }
    }

    /** Whether there may be messages that have not been taken. */
    boolean remain() {
        return remain;
    }

    /** UCX has done something that may have brought messages. */
    void expect() {
        remain = true;
    }

    /** Somebody receives the message. */
    void received(long message) {
        if (message == offered) {
            offered = 0;
        }
    }

    /** @return how many there were */
    int take() {
        taken = 0;
        offered = 0;
        remain = true;
        // One guard around the loop, and not one for each message; it goes on where somebody has thrown.
        boolean complete = false;
        while (!complete) {
            try {
                takeMessages();
                complete = true;
            } catch (Throwable e) {
                ProgressEngine.log(e);
                sinkThrew(e);
            }
        }
        return taken;
    }

    /** UCX keeps a message that it has told of until somebody receives it. */
    private void sinkThrew(Throwable cause) {
        try {
            if (lastSink != null) {
                lastSink.onMessageThrew(cause);
            }
            if (offered != 0) {
                discard(offered);
            }
        } catch (Throwable e) {
            // The sink may still have the message, and receive it later: twice would be worse than never.
            ProgressEngine.log(e);
        }
        offered = 0;
    }

    private void takeMessages() {
        while (taken < LIMIT) {
            long message = UcpTag.probeNb(handle, 0, 0, true, messageInfo);
            if (message == 0) {
                remain = false;
                return;
            }
            taken++;
            deliver(message, UcpTag.infoTag(messageInfo), UcpTag.infoLength(messageInfo));
        }
    }

    private void deliver(long message, long tag, long length) {
        int id = (int) (tag >>> 32);
        MessageSink sink = lastSink;
        if (sink == null || id != lastId) {
            sink = sinks.get(id);
            if (sink == null) {
                lastSink = null;
                drop(message);
                return;
            }
            lastId = id;
            lastSink = sink;
        }
        offered = message;
        sink.onMessage(tag, message, length);
        offered = 0;
    }

    /** A message for a channel that is closed, or never was: late data, or somebody's forgery. */
    private void drop(long message) {
        worker.engine().counters().increment(WorkerCounter.UNKNOWN_CHANNEL_MESSAGES);
        discard(message);
    }

    private void discard(long message) {
        long request = worker.receive(message, 0, 0);
        if (request > 0) {
            worker.adopt(request, null, null);
        }
    }
}
