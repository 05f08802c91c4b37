// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.TransportKind;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

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

    /** For {@link #parse}, in another process. */
    String toLine() {
        return String.join(" ", transport.name(), Boolean.toString(tls), protocol.name(), lane,
                URLEncoder.encode(software, StandardCharsets.UTF_8), Double.toString(megabytesPerSecond),
                Double.toString(filesPerSecond), Double.toString(filesAtOncePerSecond));
    }

    static HttpResult parse(String line) {
        var fields = line.split(" ");
        return new HttpResult(TransportKind.valueOf(fields[0]), Boolean.parseBoolean(fields[1]),
                HttpProtocol.valueOf(fields[2]), fields[3], URLDecoder.decode(fields[4], StandardCharsets.UTF_8),
                Double.parseDouble(fields[5]), Double.parseDouble(fields[6]), Double.parseDouble(fields[7]));
    }
}
