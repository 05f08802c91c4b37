// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with UCX with UCX, over UCX's own TCP. */
class TcpSuiteTest extends NettySuite {

    TcpSuiteTest() {
        super(Pair.TCP);
    }
}
