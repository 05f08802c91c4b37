// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

/**
 * A user event in the pipeline of the channel over which a peer has put bytes with a notification. The bytes are there.
 *
 * @param memory that they were put into
 * @param value  that the peer has sent along
 * @param offset where the bytes begin
 * @param length how many they are; may be 0
 */
public record UcxMemoryNotification(UcxMemory memory, long value, long offset, long length) {
}
