// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

/**
 * @param partition its number at the broker
 * @param offset of the record in the partition
 */
public record LogRecord(int partition, long offset, byte[] payload) {
}
