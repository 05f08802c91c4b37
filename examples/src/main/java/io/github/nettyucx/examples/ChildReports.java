// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What a server or a client says to the process that started it: a line each on standard output. */
public final class ChildReports {
    private static final String LISTENING = "listening ";
    private static final String PROGRESS = "progress ";
    private static final String RESULT = "result ";
    private static final String FAILURE = "failure ";

    private static final Gson GSON = new GsonBuilder().serializeSpecialFloatingPointValues().create();
    /** A machine that is busy takes its time to start processes. */
    private static final long START_SECONDS = 120;
    private static final long POLL_MILLIS = 200;
    /** Its end may be seen late on a busy machine. Any other failure of a client is told of so much later. */
    private static final long SERVER_END_MILLIS = 2000;

    private ChildReports() {
    }

    /** The server's way to say where it can be reached, whoever started it. */
    static void listening(HostAndPort address) {
        System.out.println(LISTENING + address);
    }

    /** The client's way to say how far it is. */
    static final class OfProgress implements Progress {
        @Override
        public void at(double fraction) {
            System.out.println(PROGRESS + fraction);
        }
    }

    /** The client's way to say what came out in the end. */
    static void result(Object result) {
        System.out.println(RESULT + GSON.toJson(result));
    }

    /** Either side's way to say why it gives up, in words. */
    static void failure(String message) {
        System.out.println(FAILURE + URLEncoder.encode(message, StandardCharsets.UTF_8));
    }

    /** For {@link ChildProcess}: whether a line on standard output is one of these. */
    public static boolean isReport(String line) {
        return Stream.of(LISTENING, PROGRESS, RESULT, FAILURE).anyMatch(line::startsWith);
    }

    /**
     * Waits until a server says where it can be reached.
     *
     * @throws ExampleFailure if it gives up, or ends, or takes too long
     */
    public static String addressOf(ChildProcess server) throws InterruptedException {
        return await(LISTENING, server, null, Progress.SILENT, START_SECONDS);
    }

    /**
     * Waits until a client says what came out.
     *
     * @param type of the result
     * @param server of the client; its end is the reason if the client fails
     * @param progress is told what the client reports of it
     * @throws ExampleFailure if one of the two gives up, or ends, or the client takes too long
     */
    public static <R> R resultOf(ChildProcess client, Class<R> type, ChildProcess server, Progress progress, long seconds)
            throws InterruptedException {
        return GSON.fromJson(await(RESULT, client, server, progress, seconds), type);
    }

    private static String await(String wanted, ChildProcess child, ChildProcess server, Progress progress, long seconds)
            throws InterruptedException {
        var begun = System.nanoTime();
        while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(seconds)) {
            if (server != null && server.endsWithin(0)) {
                throw server.endedEarly();
            }
            var line = child.nextReport(POLL_MILLIS);
            if (line == null) {
                continue;
            }
            if (line.startsWith(wanted)) {
                return line.substring(wanted.length());
            } else if (line.startsWith(PROGRESS)) {
                progress.at(Double.parseDouble(line.substring(PROGRESS.length())));
            } else if (line.startsWith(FAILURE)) {
                // A client that loses its server may notice before we do, but it does not know why.
                throw server != null && server.endsWithin(SERVER_END_MILLIS) ? server.endedEarly()
                        : child.failed(URLDecoder.decode(line.substring(FAILURE.length()), StandardCharsets.UTF_8));
            }
        }
        throw child.failed("it has not said '" + wanted.strip() + "' within " + seconds + " s");
    }
}
