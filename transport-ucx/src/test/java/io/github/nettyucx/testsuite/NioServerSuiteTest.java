// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with clients of UCX, and a server of Netty's NIO transport. */
class NioServerSuiteTest extends NettySuite {

    NioServerSuiteTest() {
        super(Pair.NIO_SERVER);
    }
}
