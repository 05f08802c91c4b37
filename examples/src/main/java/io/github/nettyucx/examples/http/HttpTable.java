// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.TextTable;
import java.util.List;

/** Results as aligned text for a terminal. */
final class HttpTable {
    private HttpTable() {
    }

    static String render(List<HttpResult> results, ByteSize big) {
        var table = new TextTable().left("transport").left("lane").left("protocol").left("security").left("files by")
                .right("checks").right(big + " file, MB/s").right("small files/s").right("small files/s, all at once");
        for (var result : results) {
            table.row(List.of(result.transport().toString(), result.lane(), result.protocol().title(),
                    result.tls() ? "TLS" : "plaintext",
                    result.protocol() == HttpProtocol.HTTP_1_1 && !result.tls() ? "FileRegion" : "ChunkedFile",
                    Integer.toString(HttpChecks.names(result.protocol()).size()), whole(result.megabytesPerSecond()),
                    whole(result.filesPerSecond()), whole(result.filesAtOncePerSecond())));
        }
        return table.render();
    }
}
