// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;

import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;

/** Who handles which type. Types are added by any thread; messages come on event loops. */
final class Handlers {

    private sealed interface Entry permits OfMessages, OfRequests {
    }

    private record OfMessages<T>(MessageType<T> type, MessageHandler<? super T> handler) implements Entry {
    }

    private record OfRequests<Q, R>(RequestType<Q, R> type, RequestHandler<? super Q, R> handler) implements Entry {
    }

    private final Node node;
    /** By number; replaced when one is added. */
    private volatile Entry[] entries = new Entry[0];

    Handlers(Node node) {
        this.node = node;
    }

    <T> void add(MessageType<T> type, MessageHandler<? super T> handler) {
        add(type.number(), new OfMessages<>(type, handler));
    }

    <Q, R> void add(RequestType<Q, R> type, RequestHandler<? super Q, R> handler) {
        add(type.number(), new OfRequests<>(type, handler));
    }

    private synchronized void add(int number, Entry entry) {
        Entry[] more = Arrays.copyOf(entries, Math.max(entries.length, number + 1));
        if (more[number] != null) {
            throw new IllegalArgumentException("type " + number + " has a handler already");
        }
        more[number] = entry;
        entries = more;
    }

    private Entry entry(int number) {
        Entry[] known = entries;
        return number < known.length ? known[number] : null;
    }

    /** A message of {@link Frame#MESSAGE}, {@link Frame#REQUEST}, {@link Frame#RESPONSE} or {@link Frame#FAILURE}. */
    void handle(Connection connection, int kind, int type, ByteBuf buffer, int begin, int end) {
        Importer importer = connection.importer();
        importer.over(buffer, begin, end);
        Peer peer = connection.peer();
        try {
            switch (kind) {
                case Frame.MESSAGE -> {
                    if (entry(type) instanceof OfMessages<?> entry) {
                        message(entry, connection, importer);
                    } else {
                        unhandled(peer, type, new IllegalStateException("no handler for messages of type " + type));
                    }
                }
                case Frame.REQUEST -> {
                    long correlation = importer.getLong();
                    if (entry(type) instanceof OfRequests<?, ?> entry) {
                        request(entry, connection, importer, correlation);
                    } else {
                        peer.refuse(type, correlation,
                                "node " + node.id() + " has no handler for requests of type " + type, true);
                    }
                }
                default -> response(kind, peer, importer);
            }
        } catch (Throwable e) {
            unhandled(peer, type, e);
        }
    }

    private <T> T read(Codec<T> codec, Importer importer) {
        T message = codec.read(importer);
        if (importer.remaining() != 0) {
            int left = importer.remaining();
            codec.release(message);
            throw new IndexOutOfBoundsException("the codec has read " + left
                    + " bytes less than the message has: do both nodes have the same codec?");
        }
        return message;
    }

    private <T> void message(OfMessages<T> entry, Connection connection, Importer importer) {
        T message = read(entry.type.codec(), importer);
        Peer peer = connection.peer();
        if (entry.type.dispatch() == Dispatch.LOOP) {
            handle(entry, peer, message);
            return;
        }
        peer.inbox().add(new Inbox.Work() {
            @Override
            public void handle() {
                Handlers.this.handle(entry, peer, message);
            }

            @Override
            public void reject(RejectedExecutionException cause) {
                unhandled(peer, entry.type.number(), cause);
                release(entry.type.codec(), message, peer, entry.type.number());
            }
        }, entry.type.dispatch() == Dispatch.POOL_IN_ORDER, connection);
    }

    private <T> void handle(OfMessages<T> entry, Peer peer, T message) {
        try {
            entry.handler.onMessage(peer, message);
        } catch (Throwable e) {
            unhandled(peer, entry.type.number(), e);
        } finally {
            release(entry.type.codec(), message, peer, entry.type.number());
        }
    }

    private <Q, R> void request(OfRequests<Q, R> entry, Connection connection, Importer importer, long correlation) {
        Peer peer = connection.peer();
        RequestType<Q, R> type = entry.type;
        Q request;
        try {
            request = read(type.request(), importer);
        } catch (Throwable e) {
            peer.refuse(type.number(), correlation, e.toString(), true);
            throw e;
        }
        if (type.dispatch() == Dispatch.LOOP) {
            Responder<R> responder = connection.responder();
            responder.begin(peer, type, correlation);
            handle(entry, peer, request, responder);
            return;
        }
        Responder<R> responder = new Responder<>();
        responder.begin(peer, type, correlation);
        peer.inbox().add(new Inbox.Work() {
            @Override
            public void handle() {
                Handlers.this.handle(entry, peer, request, responder);
            }

            @Override
            public void reject(RejectedExecutionException cause) {
                refuse(responder, peer, type.number(), cause);
                release(type.request(), request, peer, type.number());
            }
        }, type.dispatch() == Dispatch.POOL_IN_ORDER, connection);
    }

    private <Q, R> void handle(OfRequests<Q, R> entry, Peer peer, Q request, Responder<R> responder) {
        try {
            entry.handler.onRequest(peer, request, responder);
            if (responder.isOpen()) {
                responder.fail("the handler of node " + node.id() + " has returned without a response");
            }
        } catch (Throwable e) {
            refuse(responder, peer, entry.type.number(), e);
        } finally {
            release(entry.type.request(), request, peer, entry.type.number());
        }
    }

    private void refuse(Responder<?> responder, Peer peer, int type, Throwable cause) {
        unhandled(peer, type, cause);
        if (responder.isOpen()) {
            try {
                responder.fail(cause.toString());
            } catch (Throwable unsent) {
                // The requester waits until his time is over.
                unhandled(peer, type, unsent);
            }
        }
    }

    /** It throws nothing. */
    <T> void release(Codec<T> codec, T message, Peer peer, int type) {
        try {
            codec.release(message);
        } catch (Throwable e) {
            unhandled(peer, type, e);
        }
    }

    private void response(int kind, Peer peer, Importer importer) {
        Pending request = node.requests().take(importer.getLong(), peer);
        if (request == null) {
            node.counters().late.increment();
            return;
        }
        boolean isRefused = kind == Frame.FAILURE;
        Object response;
        try {
            response = isRefused ? importer.getString() : read(request.codec, importer);
        } catch (Throwable e) {
            // Whatever a codec throws, and the peer has sent: nobody else ends the request.
            request.fail(new MessagingException("the response cannot be read", e));
            return;
        }
        if (isRefused) {
            request.fail(new MessagingException.RequestRefused((String) response));
        } else {
            request.succeed(response);
        }
    }

    /** Tells the listener. It throws nothing. */
    void unhandled(Peer peer, int type, Throwable cause) {
        node.counters().unhandled.increment();
        node.told(listener -> listener.failed(peer, type, cause));
    }
}
