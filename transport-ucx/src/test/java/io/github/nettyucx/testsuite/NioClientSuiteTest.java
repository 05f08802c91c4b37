// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with a server of UCX, and clients of Netty's NIO transport. */
class NioClientSuiteTest extends NettySuite {

    NioClientSuiteTest() {
        super(Pair.NIO_CLIENT);
    }
}
