// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Is given messages of one type.
 *
 * @param <T> their class
 */
@FunctionalInterface
public interface MessageHandler<T> {

    /**
     * @param from    who has sent it
     * @param message released by its codec when the handler returns
     */
    void onMessage(Peer from, T message) throws Exception;
}
