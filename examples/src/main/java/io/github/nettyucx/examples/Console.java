// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Prints text that uses a few signs beyond ASCII to terminals that may not have them. */
public final class Console {
    private Console() {
    }

    public static void print(String text) {
        var charset = Charset.forName(System.getProperty("stdout.encoding", "UTF-8"), StandardCharsets.UTF_8);
        System.out.print(charset.newEncoder().canEncode(text) ? text : toAscii(text));
        System.out.flush();
    }

    /** Sign by sign, so that columns stay aligned. */
    static String toAscii(String text) {
        return text.replace('µ', 'u').replace('×', 'x').replace('─', '-').replace('–', '-');
    }
}
