// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class ResultJsonTest {
    @Test
    void holdsEverythingMeasuredAndTheMachine() {
        assertEquals("""
                {
                  "java": "%s",
                  "os": "%s %s %s",
                  "processors": %d,
                  "results": [
                    {
                      "transport": "ucx",
                      "lane": "sysv",
                      "wait": "spin",
                      "software": "UCX 1.22.0",
                      "size": 16,
                      "connections": 1,
                      "threads": 1,
                      "iterations": 1000,
                      "warmup": 100,
                      "roundTripsPerSecond": 1234567.800,
                      "rttMicros": {"min": 0.700, "mean": 0.812, "p50": 0.800, "p99": 1.250, "p99.9": 12.500, \
                "max": 99.125},
                      "p50TimesFasterThanNio": 102.500
                    },
                    {
                      "transport": "nio",
                      "lane": "tcp",
                      "wait": "default",
                      "software": "Netty 4.1",
                      "size": 16,
                      "connections": 1,
                      "threads": 1,
                      "iterations": 1000,
                      "warmup": 100,
                      "roundTripsPerSecond": 11904.300,
                      "rttMicros": {"min": 60.000, "mean": 84.000, "p50": 82.000, "p99": 120.500, "p99.9": 1234.567, \
                "max": 2000.000},
                      "p50TimesFasterThanNio": 1.000
                    }
                  ]
                }
                """.formatted(Runtime.version(), System.getProperty("os.name"), System.getProperty("os.version"),
                System.getProperty("os.arch"), Runtime.getRuntime().availableProcessors()),
                ResultJson.render(List.of(ResultTableTest.UCX, ResultTableTest.NIO)));
    }

    /** Which may have other digits. */
    @Test
    void isTheSameInEveryLanguage() {
        var language = Locale.getDefault();
        var text = ResultJson.render(List.of(ResultTableTest.UCX));
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG"));
            assertEquals(text, ResultJson.render(List.of(ResultTableTest.UCX)));
        } finally {
            Locale.setDefault(language);
        }
    }

    @Test
    void knowsNoRatioWithoutNio() {
        assertEquals(1, ResultJson.render(List.of(ResultTableTest.UCX)).lines()
                .filter("      \"p50TimesFasterThanNio\": null"::equals).count());
    }

    @Test
    void escapesWhatWouldEndAString() {
        assertEquals("\"a\\\"b\\\\c\\u000ad µ\"", ResultJson.quote("a\"b\\c\nd µ"));
    }
}
