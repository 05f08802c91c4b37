// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Setting;
import java.util.List;

/**
 * What was measured with one broker, or one and its followers. What a table does not have is {@code null}, or empty.
 *
 * @param batch records that are sent at once
 * @param replicas brokers that have each record
 * @param one with one send under way; or a consumer that takes one record at a time
 * @param busy with many under way
 * @param many producers with many under way
 * @param received by a consumer, of a producer that takes its time
 */
record LogRow(LogTable table, Setting setting, LogWay way, ByteSize size, int batch, int replicas, LogResult one,
              LogResult busy, List<LogResult> many, LogResult received) {

    double megabytesOfMany() {
        return many.stream().mapToDouble(LogResult::megabytesPerSecond).sum();
    }
}
