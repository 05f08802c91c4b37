// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.GatheredWrites;
import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/** Brings answers to those who have asked. For the event loop only, but where it says otherwise. */
final class ConnectionHandler extends SimpleChannelInboundHandler<Message> {

    /** Somebody who waits for an answer. */
    interface Waiting {
        /** @param answer with no other fault than that it may be of the wrong kind */
        void answered(Message.Answer answer);

        /** Of a part of what was asked for; a failure of the rest comes behind it. */
        default void partlyAnswered(Message.PartlyProduced answer) {
        }

        void failed(Throwable cause);
    }

    /** Who has asked does not wait any more. */
    private static final Waiting NOBODY = new Waiting() {
        @Override
        public void answered(Message.Answer answer) {
            answer.release();
        }

        @Override
        public void failed(Throwable cause) {
        }
    };

    /** Somebody who is told of a partition's memory. */
    interface MemoryUser {
        void granted(Message.Granted granted);

        void sealed(Message.Sealed sealed);

        void failed(Throwable cause);

        /** There may be {@linkplain ConnectionHandler#takeRoom room} for it. */
        default void room() {
        }
    }

    /**
     * So many bytes of puts may be under way, of all who write to memory. Where that is not attached, a channel keeps 64 MiB of
     * puts that have to wait for others (docs/one-sided.md), and refuses what is beyond. This leaves it some room.
     */
    static final long MAX_BYTES_UNDER_WAY = 48L << 20;

    private final IntObjectMap<Waiting> waiting = new IntObjectHashMap<>();
    private final IntObjectMap<MemoryUser> users = new IntObjectHashMap<>();
    /** Those for whom there was no room, in the order in which they found that. */
    private final Set<MemoryUser> waitingForRoom = new LinkedHashSet<>();
    private long bytesUnderWay;
    private GatheredWrites writes;
    private int lastRequest = Message.UNASKED;
    /** Why there is nothing more to be had; {@code null} as long as there is. */
    private volatile IOException end;

    /** Whether answers may still come; for any thread. Who is told of the end finds that it has ended. */
    boolean isOpen() {
        return end == null;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        writes = new GatheredWrites(added);
    }

    // ------------------------------------------------------------------------------------------- asking

    void ask(IntFunction<Message> message, Promise<Message.Answer> promise) {
        var request = expect(new Waiting() {
            @Override
            public void answered(Message.Answer answer) {
                promise.trySuccess(answer);
            }

            @Override
            public void failed(Throwable cause) {
                promise.tryFailure(cause);
            }
        });
        if (request != Message.UNASKED) {
            send(message.apply(request));
        }
    }

    /** @return the number of the request to be sent; none if the connection has ended, which has been told then */
    int expect(Waiting one) {
        var ended = end;
        if (ended != null) {
            one.failed(ended);
            return Message.UNASKED;
        }
        do {
            lastRequest++;
        } while (lastRequest == Message.UNASKED || waiting.containsKey(lastRequest));
        waiting.put(lastRequest, one);
        return lastRequest;
    }

    /**
     * Who waits for an answer is told nothing more.
     *
     * @param answered whether the answer may still come
     */
    void forget(int request, boolean answered) {
        if (waiting.remove(request) != null && answered) {
            waiting.put(request, NOBODY);
        }
    }

    /** How many requests may still be answered. */
    int underWay() {
        return waiting.size();
    }

    /** Goes out at the end of the event loop's turn, with what else there is. */
    void send(Message message) {
        writes.add(message);
    }

    /** @return whether there was none yet */
    boolean add(int partition, MemoryUser user) {
        return users.putIfAbsent(partition, user) == null;
    }

    void remove(int partition, MemoryUser user) {
        if (users.get(partition) == user) {
            users.remove(partition);
        }
    }

    /**
     * Before a put of so many bytes.
     *
     * @return whether there is room for it, which it has now; otherwise the user is told when there may be
     */
    boolean takeRoom(MemoryUser user, long bytes) {
        if (bytesUnderWay > 0 && bytesUnderWay + bytes > MAX_BYTES_UNDER_WAY) {
            waitingForRoom.add(user);
            return false;
        }
        bytesUnderWay += bytes;
        return true;
    }

    /** Puts are not under way any more. */
    void giveRoom(long bytes) {
        bytesUnderWay -= bytes;
        if (bytes > 0 && !waitingForRoom.isEmpty()) {
            var all = List.copyOf(waitingForRoom);
            waitingForRoom.clear();
            all.forEach(MemoryUser::room);
        }
    }

    // ------------------------------------------------------------------------------------------- what comes

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, Message message) throws IOException {
        switch (message) {
            case Message.Granted granted when granted.request() == Message.UNASKED -> {
                var user = users.get(granted.partition());
                if (user != null) {
                    user.granted(granted);
                }
            }
            case Message.Sealed sealed -> {
                var user = users.get(sealed.partition());
                if (user != null) {
                    user.sealed(sealed);
                }
            }
            case Message.Denied denied -> {
                var user = users.get(denied.partition());
                if (user != null) {
                    user.failed(new BrokerException(denied.code(), denied.text()));
                }
            }
            case Message.PartlyProduced partly -> {
                var one = waiting.get(partly.request());
                if (one != null) {
                    one.partlyAnswered(partly);
                }
            }
            case Message.Failed failed -> {
                var cause = new BrokerException(failed.code(), failed.text());
                var one = waiting.remove(failed.request());
                if (one != null) {
                    one.failed(cause);
                } else if (failed.request() == Message.UNASKED) {
                    end(cause);
                    ctx.close();
                }
            }
            case Message.Answer answer -> {
                var one = waiting.remove(answer.request());
                if (one == null) {
                    answer.release();
                    throw new IOException("the broker answered request " + answer.request() + ", which is not under way");
                }
                try {
                    one.answered(answer);
                } catch (ClassCastException e) {
                    answer.release();
                    var cause = new IOException("the broker answered request " + answer.request()
                            + " with something else than was asked: " + answer.getClass().getSimpleName(), e);
                    one.failed(cause);
                    throw cause;
                }
            }
            default -> {
                message.release();
                throw new IOException("the broker sent a request: " + message.getClass().getSimpleName());
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end(new IOException("the connection to the broker has ended"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        end(new IOException("the connection to the broker has failed: " + cause.getMessage(), cause));
        ctx.close();
    }

    private void end(IOException cause) {
        if (end != null) {
            return;
        }
        end = cause;
        var told = List.copyOf(waiting.values());
        waiting.clear();
        // Before the answers that they wait for: a producer that knows of the end sends nothing more of what it has.
        List.copyOf(users.values()).forEach(user -> user.failed(cause));
        told.forEach(one -> one.failed(cause));
    }
}
