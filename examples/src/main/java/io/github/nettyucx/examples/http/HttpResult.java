// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.TransportKind;

/**
 * One row of the result.
 *
 * @param lane what carried the bytes, for example {@code sysv} or {@code tcp}
 * @param megabytesPerSecond of the big file, in units of 1,000,000 bytes
 * @param filesPerSecond of small files that are asked for one after the other
 * @param filesAtOncePerSecond of those that are asked for all at once
 */
record HttpResult(TransportKind transport, boolean tls, HttpProtocol protocol, String lane, String software,
                  double megabytesPerSecond, double filesPerSecond, double filesAtOncePerSecond) {
}
