// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.grpc.proto.CallState;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Remembers what became of calls that have a name, and returns their metadata: on the server. */
final class CallWitness implements ServerInterceptor {
    static final Metadata.Key<String> CALL_ID = Metadata.Key.of("call-id", Metadata.ASCII_STRING_MARSHALLER);
    /** What comes with this key goes back with it in the headers. */
    static final Metadata.Key<String> TEXT = Metadata.Key.of("example-text", Metadata.ASCII_STRING_MARSHALLER);
    /** What comes with this key goes back with it in the trailers. */
    static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("example-bytes-bin", Metadata.BINARY_BYTE_MARSHALLER);

    private static final class Seen {
        private final String tlsProtocol;
        private final AtomicLong sent = new AtomicLong();
        private volatile boolean cancelled;

        private Seen(String tlsProtocol) {
            this.tlsProtocol = tlsProtocol;
        }
    }

    private final Map<String, Seen> calls = new ConcurrentHashMap<>();

    CallState stateOf(String id) {
        var seen = calls.get(id);
        return seen == null ? CallState.getDefaultInstance() : CallState.newBuilder()
                .setKnown(true)
                .setCancelled(seen.cancelled)
                .setSent(seen.sent.get())
                .setTlsProtocol(seen.tlsProtocol)
                .build();
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers,
                                                       ServerCallHandler<Q, R> next) {
        var id = headers.get(CALL_ID);
        if (id == null) {
            return next.startCall(call, headers);
        }
        var session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
        var seen = new Seen(session == null ? "" : session.getProtocol());
        calls.put(id, seen);
        return new SimpleForwardingServerCallListener<>(next.startCall(new Observed<>(call, headers, seen), headers)) {
            @Override
            public void onCancel() {
                seen.cancelled = true;
                super.onCancel();
            }
        };
    }

    private static final class Observed<Q, R> extends SimpleForwardingServerCall<Q, R> {
        private final Metadata received;
        private final Seen seen;

        private Observed(ServerCall<Q, R> call, Metadata received, Seen seen) {
            super(call);
            this.received = received;
            this.seen = seen;
        }

        @Override
        public void sendHeaders(Metadata headers) {
            copy(TEXT, headers);
            super.sendHeaders(headers);
        }

        @Override
        public void sendMessage(R message) {
            seen.sent.incrementAndGet();
            super.sendMessage(message);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            copy(BINARY, trailers);
            super.close(status, trailers);
        }

        private <T> void copy(Metadata.Key<T> key, Metadata to) {
            var values = received.getAll(key);
            if (values != null) {
                values.forEach(value -> to.put(key, value));
            }
        }
    }
}
