// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.RandomAccessFile;

/**
 * What a request is answered with.
 *
 * @param file open, or {@code null} where there is nothing to be sent but the head; to be closed by who sends it
 * @param range what of the file is to be sent, or {@code null} without one
 */
record FileAnswer(HttpResponseStatus status, HttpHeaders headers, RandomAccessFile file, ByteRange range) {
}
