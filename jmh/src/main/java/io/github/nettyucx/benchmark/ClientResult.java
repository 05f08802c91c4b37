// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/**
 * What a client process reports.
 *
 * @param before the process's state when the measurement began
 * @param after and when it was over
 */
record ClientResult(Sample sample, ProcessState before, ProcessState after) {
}
