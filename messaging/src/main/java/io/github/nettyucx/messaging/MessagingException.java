// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** A message or a request could not be sent, or a request was not answered. */
public class MessagingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public MessagingException(String message) {
        super(message);
    }

    public MessagingException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The same once more, for another thread that has waited for it: with that thread's stack, and to add to. */
    MessagingException again() {
        return new MessagingException(getMessage(), getCause());
    }

    /** The outgoing ring had no room in time. What was to be sent has not been sent. */
    public static final class RingFull extends MessagingException {

        private static final long serialVersionUID = 1L;

        RingFull(String message) {
            super(message);
        }

        @Override
        MessagingException again() {
            return new RingFull(getMessage());
        }
    }

    /** The node cannot be reached, or the connection to it was lost. A request may have been handled. */
    public static final class NodeLost extends MessagingException {

        private static final long serialVersionUID = 1L;

        NodeLost(String message, Throwable cause) {
            super(message, cause);
        }

        @Override
        MessagingException again() {
            return new NodeLost(getMessage(), getCause());
        }
    }

    /** There was no response in time. The request may have been handled. */
    public static final class RequestTimeout extends MessagingException {

        private static final long serialVersionUID = 1L;

        RequestTimeout(String message) {
            super(message);
        }

        @Override
        MessagingException again() {
            return new RequestTimeout(getMessage());
        }
    }

    /** The other node has answered that it could not handle the request, and why. */
    public static final class RequestRefused extends MessagingException {

        private static final long serialVersionUID = 1L;

        RequestRefused(String message) {
            super(message);
        }

        @Override
        MessagingException again() {
            return new RequestRefused(getMessage());
        }
    }
}
