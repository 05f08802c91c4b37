// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with clients of UCX, and a server of Netty's epoll transport. */
class EpollServerSuiteTest extends NettySuite {

    EpollServerSuiteTest() {
        super(Pair.EPOLL_SERVER);
    }
}
