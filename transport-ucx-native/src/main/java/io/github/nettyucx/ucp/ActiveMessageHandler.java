// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** Receives active messages. */
@FunctionalInterface
public interface ActiveMessageHandler {

    /**
     * Called for each message, inside {@link UcpWorker#progress()} of its worker, on the thread that called it;
     * everything is a plain address, so that nothing is allocated. Must not progress or block. If it throws, that is
     * logged and the message dropped.
     *
     * @param header       address of the header, valid during the call only
     * @param headerLength in bytes
     * @param data         address of the data; or, if {@link UcpActiveMessage#isRendezvous}, a descriptor for
     *                     {@link UcpActiveMessage#receiveDataNbx}
     * @param length       of the data, in bytes
     * @param param        for {@link UcpActiveMessage#isRendezvous}, {@link UcpActiveMessage#isPersistent} and
     *                     {@link UcpActiveMessage#replyEndpoint}, valid during the call only
     * @return {@link UcsStatus#OK} if UCX may have the data back; {@link UcsStatus#INPROGRESS} to keep a descriptor, or
     *         persistent data, until it is received or released
     */
    int onMessage(long header, long headerLength, long data, long length, long param);
}
