// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.examples.http.ByteRange.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteRangeTest {
    @ParameterizedTest
    @CsvSource({
        "bytes=0-0,                     0, 1",
        "bytes=0-99,                    0, 100",
        "bytes=0-100,                   0, 100",
        "bytes=99-,                     99, 1",
        "bytes=-1,                      99, 1",
        "bytes=-100,                    0, 100",
        "bytes=-101,                    0, 100",
        "BYTES = 10 - 19,               10, 10",
        "bytes=1-99999999999999999999,  1, 99"})
    void isAPartOfTheFile(String header, long first, long length) {
        assertEquals(new ByteRange(Kind.PART, first, length), ByteRange.of(header, 100));
    }

    @ParameterizedTest
    @CsvSource({"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"})
    void isUnsatisfiable(String header) {
        assertEquals(Kind.UNSATISFIABLE, ByteRange.of(header, 100).kind());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "bytes=-", "bytes=2-1", "bytes=0-1,5-6", "bytes=x-y", "lines=0-1", "bytes", "''"})
    void isIgnored(String header) {
        assertEquals(new ByteRange(Kind.WHOLE, 0, 100), ByteRange.of(header, 100));
    }

    @Test
    void ofAnEmptyFile() {
        assertEquals(Kind.WHOLE, ByteRange.of(null, 0).kind());
        assertEquals(Kind.WHOLE, ByteRange.of("bytes=-5", 0).kind());
        assertEquals(Kind.UNSATISFIABLE, ByteRange.of("bytes=0-", 0).kind());
    }
}
