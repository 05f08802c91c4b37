// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * What a node has done since it was started. A message is one frame, unless it is larger than 64 KiB or a quarter of the ring.
 *
 * @param framesSent        given to channels: messages, requests, responses and parts of large ones
 * @param bytesSent         of these, with their headers
 * @param framesReceived    the same of others
 * @param bytesReceived     of these, and of what nodes say about their connection
 * @param flushes           how often a channel was flushed for them
 * @param wakeups           how often a thread has woken an event loop
 * @param ringFull          how often a thread has found no room
 * @param overflowed        frames of event loops that had to wait beside a ring, and ends of messages that threads gave up
 * @param undelivered       ranges of tickets that {@link NodeListener#undelivered} was told
 * @param unhandled         messages that nobody handled, or whose codec or handler has thrown
 * @param requests          that were begun
 * @param requestsTimedOut  that had no answer in time
 * @param requestsCancelled whose future was cancelled, or whose thread was interrupted while it waited for the response
 * @param requestsFailed    that ended with the connection or the node
 * @param responsesLate     answers to requests that had ended
 * @param connections       that there are now
 * @param connectionsOpened that have been ready
 * @param connectionsClosed of these, in good order
 * @param connectionsLost   of these, otherwise
 */
public record NodeMetrics(long framesSent, long bytesSent, long framesReceived, long bytesReceived, long flushes,
                          long wakeups, long ringFull, long overflowed, long undelivered, long unhandled, long requests,
                          long requestsTimedOut, long requestsCancelled, long requestsFailed, long responsesLate,
                          int connections, long connectionsOpened, long connectionsClosed, long connectionsLost) {
}
