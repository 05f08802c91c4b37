// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

/** Netty's tests with UCX with UCX, over shared memory. */
class ShmSuiteTest extends NettySuite {

    ShmSuiteTest() {
        super(Pair.SHM);
    }
}
