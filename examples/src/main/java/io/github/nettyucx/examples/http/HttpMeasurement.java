// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static io.github.nettyucx.examples.Checks.requireEqual;

import io.github.nettyucx.examples.Progress;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;

/** How fast files come, over one connection; their bytes are compared as well, which is a part of the time. */
final class HttpMeasurement {
    static final long DEFAULT_ROUNDS = 5;

    private interface Step {
        void run() throws InterruptedException;
    }

    private HttpMeasurement() {
    }

    /**
     * After the checks, which have warmed both sides up.
     *
     * @param rounds how often each file is asked for
     */
    static HttpResult measure(HttpConnection connection, HttpTarget target, long bigSize, long rounds,
                              Progress progress) throws InterruptedException {
        var big = seconds(rounds, () -> big(connection, bigSize));
        progress.at(0.6);
        var oneByOne = seconds(rounds, () -> oneByOne(connection));
        progress.at(0.9);
        var atOnce = seconds(rounds, () -> FileChecks.atOnce(connection));
        var small = (double) rounds * CheckFiles.SMALL;
        return new HttpResult(target.transport(), target.trust() != null, target.protocol(), connection.lane(),
                target.transport().software(), (double) rounds * bigSize / big / 1e6, small / oneByOne, small / atOnce);
    }

    private static void big(HttpConnection connection, long size) throws InterruptedException {
        var reply = connection.request(HttpMethod.GET, FileChecks.path(CheckFiles.BIG), EmptyHttpHeaders.INSTANCE,
                new SeededContent(CheckFiles.BIG).comparison(0));
        requireEqual(size, reply.length(), "length of " + CheckFiles.BIG);
    }

    private static void oneByOne(HttpConnection connection) throws InterruptedException {
        for (var i = 0; i < CheckFiles.SMALL; i++) {
            var name = CheckFiles.small(i);
            var reply = connection.request(HttpMethod.GET, FileChecks.path(name), EmptyHttpHeaders.INSTANCE,
                    new SeededContent(name).comparison(0));
            requireEqual(CheckFiles.smallSize(i), reply.length(), "length of " + name);
        }
    }

    private static double seconds(long rounds, Step step) throws InterruptedException {
        var start = System.nanoTime();
        for (var i = 0; i < rounds; i++) {
            step.run();
        }
        return (System.nanoTime() - start) / 1e9;
    }
}
