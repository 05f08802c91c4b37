// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ByteSize;

/**
 * What is measured.
 *
 * @param size of a request, and of its reply
 * @param calls measured, one after the other and then again many at a time
 * @param warmup calls before each of the two
 * @param concurrency how many at a time
 * @param direct whether calls and replies are handled on the event loops, instead of gRPC's pool of threads
 */
record GrpcLoad(ByteSize size, long calls, long warmup, int concurrency, boolean direct) {
}
