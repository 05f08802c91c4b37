// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.Checks.require;
import static io.github.nettyucx.examples.Checks.requireEqual;

import io.github.nettyucx.examples.Checks.Check;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Files and parts of them, asked for over one connection. */
final class FileChecks {
    private static final Consumer<ByteBuf> NOTHING =
            part -> require(!part.isReadable(), part.readableBytes() + " bytes where none should be");

    private final HttpConnection connection;
    private final long bigSize;
    private final List<Check> checks;

    /**
     * @param connection {@code null} where only the names of the checks are wanted
     */
    FileChecks(HttpConnection connection, HttpProtocol protocol, long bigSize) {
        this.connection = connection;
        this.bigSize = bigSize;
        checks = List.of(
                new Check("files from empty to 1 MB", this::wholeFiles),
                new Check("the big file", () -> whole(CheckFiles.BIG, bigSize)),
                new Check("ranges: first bytes, middle, last bytes, up to the end and beyond", this::ranges),
                new Check("ranges without a byte (416), and those to be ignored", this::otherRanges),
                new Check("HEAD", this::heads),
                new Check("If-Modified-Since (304) and If-Range", this::conditions),
                new Check("files that are not there, and paths and links out of the directory", this::refused),
                new Check(CheckFiles.SMALL + " small files, one after the other", this::smallFiles),
                new Check(CheckFiles.SMALL + " small files" + (protocol == HttpProtocol.HTTP_2
                        ? " at a time, each on a stream" : ", pipelined"), this::smallFilesAtOnce));
    }

    List<Check> checks() {
        return checks;
    }

    private void wholeFiles() throws InterruptedException {
        for (var file : CheckFiles.sizes(0).entrySet()) {
            if (!file.getKey().equals(CheckFiles.BIG) && !file.getKey().startsWith("small/")) {
                whole(file.getKey(), file.getValue());
            }
        }
    }

    private void whole(String name, long size) throws InterruptedException {
        var reply = get(name, EmptyHttpHeaders.INSTANCE, new SeededContent(name).comparison(0));
        requireEqual(200, reply.status(), "status of " + name);
        requireEqual(size, reply.length(), "length of " + name);
        requireEqual(Long.toString(size), header(reply, HttpHeaderNames.CONTENT_LENGTH), "Content-Length of " + name);
    }

    private void ranges() throws InterruptedException {
        var name = CheckFiles.ODD;
        var size = CheckFiles.ODD_SIZE;
        range(name, size, "bytes=0-0", 0, 1);
        range(name, size, "bytes=0-65536", 0, 65_537);
        range(name, size, "bytes=333333-777777", 333_333, 444_445);
        range(name, size, "bytes=-70001", size - 70_001, 70_001);
        range(name, size, "bytes=999983-", 999_983, 20);
        range(name, size, "bytes=1000000-99999999999999999999", 1_000_000, 3);
        range(name, size, "bytes=-99999999", 0, size);
        if (bigSize > 1) {
            range(CheckFiles.BIG, bigSize, "bytes=" + bigSize / 2 + "-", bigSize / 2, bigSize - bigSize / 2);
        }
    }

    private void range(String name, long size, String range, long first, long length) throws InterruptedException {
        var reply = get(name, header(HttpHeaderNames.RANGE, range), new SeededContent(name).comparison(first));
        requireEqual(206, reply.status(), "status of " + range);
        requireEqual(length, reply.length(), "length of " + range);
        requireEqual("bytes " + first + "-" + (first + length - 1) + "/" + size,
                header(reply, HttpHeaderNames.CONTENT_RANGE), "Content-Range of " + range);
    }

    private void otherRanges() throws InterruptedException {
        var name = CheckFiles.ODD;
        for (var range : List.of("bytes=1000003-", "bytes=1000003-1000010", "bytes=-0")) {
            var reply = get(name, header(HttpHeaderNames.RANGE, range), NOTHING);
            requireEqual(416, reply.status(), "status of " + range);
            requireEqual("bytes */" + CheckFiles.ODD_SIZE, header(reply, HttpHeaderNames.CONTENT_RANGE),
                    "Content-Range of " + range);
        }
        for (var range : List.of("bytes=1-0", "bytes=-", "lines=1-2", "bytes=0-1,5-6", "bytes=a-b")) {
            var reply = get(name, header(HttpHeaderNames.RANGE, range), new SeededContent(name).comparison(0));
            requireEqual(200, reply.status(), "status of " + range);
            requireEqual((long) CheckFiles.ODD_SIZE, reply.length(), "length of " + range);
        }
    }

    private void heads() throws InterruptedException {
        for (var file : CheckFiles.sizes(bigSize).entrySet()) {
            if (!file.getKey().startsWith("small/")) {
                var reply = request(HttpMethod.HEAD, file.getKey(), EmptyHttpHeaders.INSTANCE, NOTHING);
                requireEqual(200, reply.status(), "status of HEAD");
                requireEqual(file.getValue().toString(), header(reply, HttpHeaderNames.CONTENT_LENGTH),
                        "Content-Length of " + file.getKey());
            }
        }
    }

    private void conditions() throws InterruptedException {
        var name = CheckFiles.ODD;
        var modified = header(request(HttpMethod.HEAD, name, EmptyHttpHeaders.INSTANCE, NOTHING),
                HttpHeaderNames.LAST_MODIFIED);
        requireEqual(304, get(name, header(HttpHeaderNames.IF_MODIFIED_SINCE, modified), NOTHING).status(),
                "status of a file that has not been modified");
        var longAgo = "Thu, 01 Jan 1970 00:00:01 GMT";
        requireEqual(200, get(name, header(HttpHeaderNames.IF_MODIFIED_SINCE, longAgo),
                new SeededContent(name).comparison(0)).status(), "status of a file that has been modified");
        requireEqual(206, get(name, header(HttpHeaderNames.RANGE, "bytes=5-9").set(HttpHeaderNames.IF_RANGE, modified),
                new SeededContent(name).comparison(5)).status(), "status of a range of the same file");
        requireEqual(200, get(name, header(HttpHeaderNames.RANGE, "bytes=5-9").set(HttpHeaderNames.IF_RANGE, longAgo),
                new SeededContent(name).comparison(0)).status(), "status of a range of another file");
    }

    private void refused() throws InterruptedException {
        status(404, HttpMethod.GET, "/none.bin");
        status(404, HttpMethod.GET, "/");
        status(404, HttpMethod.GET, "/small");
        status(404, HttpMethod.GET, "/one.bin/none");
        status(404, HttpMethod.GET, "/%zz");
        status(404, HttpMethod.GET, "/one.bin%00");
        status(404, HttpMethod.GET, "/" + CheckFiles.LINK);
        for (var up : List.of("/../", "/%2e%2e/", "/..%2f", "/small/../../", "//../", "/./../")) {
            status(403, HttpMethod.GET, up + CheckFiles.SECRET);
        }
        status(404, HttpMethod.GET, "//etc/passwd");
        status(405, HttpMethod.DELETE, "/one.bin");
        requireEqual(200, connection.request(HttpMethod.GET, "/small/../one.bin?query=1", EmptyHttpHeaders.INSTANCE,
                new SeededContent("one.bin").comparison(0)).status(), "status of a path that stays inside");
    }

    private void status(int expected, HttpMethod method, String path) throws InterruptedException {
        requireEqual(expected, connection.request(method, path, EmptyHttpHeaders.INSTANCE, NOTHING).status(),
                "status of " + method + " " + path);
    }

    private void smallFiles() throws InterruptedException {
        for (var i = 0; i < CheckFiles.SMALL; i++) {
            whole(CheckFiles.small(i), CheckFiles.smallSize(i));
        }
    }

    private void smallFilesAtOnce() throws InterruptedException {
        atOnce(connection);
    }

    /** Asks for all small files before it looks at the first answer. */
    static void atOnce(HttpConnection connection) throws InterruptedException {
        var names = IntStream.range(0, CheckFiles.SMALL).mapToObj(CheckFiles::small).toList();
        var exchanges = new ArrayList<Exchange>();
        for (var name : names) {
            exchanges.add(connection.exchange(HttpMethod.GET, path(name), EmptyHttpHeaders.INSTANCE,
                    new SeededContent(name).comparison(0)));
        }
        connection.send(exchanges);
        for (var i = 0; i < names.size(); i++) {
            var reply = ClientConnections.await(exchanges.get(i).reply(), names.get(i));
            requireEqual(200, reply.status(), "status of " + names.get(i));
            requireEqual(CheckFiles.smallSize(i), reply.length(), "length of " + names.get(i));
        }
    }

    private Reply get(String name, HttpHeaders headers, Consumer<ByteBuf> content) throws InterruptedException {
        return request(HttpMethod.GET, name, headers, content);
    }

    private Reply request(HttpMethod method, String name, HttpHeaders headers, Consumer<ByteBuf> content)
            throws InterruptedException {
        return connection.request(method, path(name), headers, content);
    }

    static String path(String name) {
        return "/" + name.replace("%", "%25").replace(" ", "%20").replace("&", "%26");
    }

    private static HttpHeaders header(CharSequence name, String value) {
        return new DefaultHttpHeaders().set(name, value);
    }

    private static String header(Reply reply, CharSequence name) {
        var value = reply.headers().get(name);
        require(value != null, "the answer has no " + name);
        return value;
    }
}
