// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** A request whose answer goes to a callback. What that throws is told, and goes nowhere else. */
final class CallbackPending<R> extends Pending {

    private final Node node;
    private final int type;
    private final ResponseHandler<R> handler;

    CallbackPending(Node node, int type, ResponseHandler<R> handler) {
        this.node = node;
        this.type = type;
        this.handler = handler;
    }

    @Override
    @SuppressWarnings("unchecked")
    void succeed(Object response) {
        try {
            handler.onResponse((R) response);
        } catch (Throwable e) {
            node.handlers().unhandled(peer, type, e);
        }
    }

    @Override
    void fail(MessagingException cause) {
        try {
            handler.onFailure(cause);
        } catch (Throwable e) {
            node.handlers().unhandled(peer, type, e);
        }
    }
}
