// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.handler.codec.http.HttpHeaders;

/**
 * What a server has answered; the bytes have been given away as they came.
 *
 * @param status the number of it
 * @param length how many bytes came
 */
record Reply(int status, HttpHeaders headers, long length) {
}
