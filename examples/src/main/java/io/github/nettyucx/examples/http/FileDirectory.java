// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.netty.handler.codec.http.HttpResponseStatus.FORBIDDEN;
import static io.netty.handler.codec.http.HttpResponseStatus.METHOD_NOT_ALLOWED;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_MODIFIED;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;
import static io.netty.handler.codec.http.HttpResponseStatus.PARTIAL_CONTENT;
import static io.netty.handler.codec.http.HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Date;

/** The files below one directory, and how requests for them are answered. Looks at files, so it may block. */
final class FileDirectory {
    private final Path root;

    /**
     * @throws ExampleFailure if there is no such directory
     */
    FileDirectory(Path directory) {
        try {
            root = directory.toRealPath();
        } catch (IOException e) {
            throw new ExampleFailure(directory + " cannot be read. Expected a directory that exists.", e);
        }
    }

    FileAnswer answer(HttpRequest request) {
        var headers = new DefaultHttpHeaders().set(HttpHeaderNames.DATE, DateFormatter.format(new Date()));
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return nothing(METHOD_NOT_ALLOWED, headers.set(HttpHeaderNames.ALLOW, "GET, HEAD"));
        }
        Path path;
        try {
            path = root.resolve(withoutSlashes(new QueryStringDecoder(request.uri()).path())).normalize();
        } catch (IllegalArgumentException e) {
            // Neither Netty nor the file system knows what the escapes mean (InvalidPathException is one of these).
            return nothing(NOT_FOUND, headers);
        }
        if (!path.startsWith(root)) {
            return nothing(FORBIDDEN, headers);
        }
        try {
            // A link may lead out as well. That it exists is nobody's business.
            if (!path.toRealPath().startsWith(root) || !Files.isRegularFile(path)) {
                return nothing(NOT_FOUND, headers);
            }
            return opened(path, request, headers);
        } catch (IOException e) {
            return nothing(NOT_FOUND, headers);
        }
    }

    private static String withoutSlashes(String path) {
        var start = 0;
        while (start < path.length() && path.charAt(start) == '/') {
            start++;
        }
        return path.substring(start);
    }

    private FileAnswer opened(Path path, HttpRequest request, HttpHeaders headers) throws IOException {
        // Opened before it is looked at, so that all is told of one and the same file.
        var file = new RandomAccessFile(path.toFile(), "r");
        var kept = false;
        try {
            var answer = answer(file, path, request, headers);
            kept = answer.file() != null;
            return answer;
        } finally {
            if (!kept) {
                file.close();
            }
        }
    }

    private static FileAnswer answer(RandomAccessFile file, Path path, HttpRequest request, HttpHeaders headers)
            throws IOException {
        // The format has no fractions of seconds.
        var modified = Files.getLastModifiedTime(path).toMillis() / 1000 * 1000;
        headers.set(HttpHeaderNames.LAST_MODIFIED, DateFormatter.format(new Date(modified)));
        var size = file.length();
        if (!isNewer(modified, request.headers().get(HttpHeaderNames.IF_MODIFIED_SINCE))) {
            // The length may be left out here, but Netty's keep-alive handler closes connections where there is none.
            return new FileAnswer(NOT_MODIFIED, headers.set(HttpHeaderNames.CONTENT_LENGTH, size), null, null);
        }
        var range = ByteRange.of(range(request, headers), size);
        headers.set(HttpHeaderNames.ACCEPT_RANGES, HttpHeaderValues.BYTES);
        if (range.kind() == ByteRange.Kind.UNSATISFIABLE) {
            return nothing(REQUESTED_RANGE_NOT_SATISFIABLE,
                    headers.set(HttpHeaderNames.CONTENT_RANGE, "bytes */" + size));
        }
        var type = URLConnection.guessContentTypeFromName(path.getFileName().toString());
        headers.set(HttpHeaderNames.CONTENT_TYPE, type == null ? HttpHeaderValues.APPLICATION_OCTET_STREAM : type)
                .set(HttpHeaderNames.CONTENT_LENGTH, range.length());
        if (range.kind() == ByteRange.Kind.PART) {
            headers.set(HttpHeaderNames.CONTENT_RANGE,
                    "bytes " + range.first() + "-" + (range.first() + range.length() - 1) + "/" + size);
        }
        var status = range.kind() == ByteRange.Kind.PART ? PARTIAL_CONTENT : OK;
        return request.method().equals(HttpMethod.HEAD) || range.length() == 0
                ? new FileAnswer(status, headers, null, null) : new FileAnswer(status, headers, file, range);
    }

    /** Only a GET has one, and only if the file is still the one that the client has the rest of. */
    private static String range(HttpRequest request, HttpHeaders known) {
        var condition = request.headers().get(HttpHeaderNames.IF_RANGE);
        var applies = request.method().equals(HttpMethod.GET)
                && (condition == null || condition.equals(known.get(HttpHeaderNames.LAST_MODIFIED)));
        return applies ? request.headers().get(HttpHeaderNames.RANGE) : null;
    }

    private static boolean isNewer(long modified, String since) {
        var date = since == null ? null : DateFormatter.parseHttpDate(since);
        return date == null || modified > date.getTime();
    }

    private static FileAnswer nothing(HttpResponseStatus status, HttpHeaders headers) {
        return new FileAnswer(status, headers.set(HttpHeaderNames.CONTENT_LENGTH, 0), null, null);
    }
}
