// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with UCX with UCX, over the kernel's sockets. */
class SocketSuiteTest extends NettySuite {

    SocketSuiteTest() {
        super(Pair.SOCKET);
    }
}
