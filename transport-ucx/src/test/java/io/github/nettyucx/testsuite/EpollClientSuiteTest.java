// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with a server of UCX, and clients of Netty's epoll transport. */
class EpollClientSuiteTest extends NettySuite {

    EpollClientSuiteTest() {
        super(Pair.EPOLL_CLIENT);
    }
}
