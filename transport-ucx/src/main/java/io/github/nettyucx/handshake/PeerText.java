// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Texts for the peer and from him. */
final class PeerText {

    /** Most bytes of a text on the wire, in UTF-8. */
    static final int MAX_BYTES = 255;
    /** Stands at the end of what was cut. */
    private static final String ELLIPSIS = "…";

    private static final byte[] NONE = new byte[0];

    /** White space, and whatever ends a line. Made for the first text: most connections have none, and their peers wait. */
    private static final class Space {

        private static final Pattern PATTERN = Pattern.compile("[\\s\\v]+");
    }

    private PeerText() {
    }

    /** The text in UTF-8, in one line, whatever it was in, and cut after a whole character if it is too long. */
    static byte[] encode(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        byte[] bytes = Space.PATTERN.matcher(text).replaceAll(" ").strip().getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= MAX_BYTES) {
            return bytes;
        }
        byte[] ellipsis = ELLIPSIS.getBytes(StandardCharsets.UTF_8);
        int end = MAX_BYTES - ellipsis.length;
        while ((bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        byte[] cut = Arrays.copyOf(bytes, end + ellipsis.length);
        System.arraycopy(ellipsis, 0, cut, end, ellipsis.length);
        return cut;
    }

    /** Reads the rest of the buffer as a text; see {@link #printable}. */
    static String read(ByteBuf in) {
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return printable(new String(bytes, StandardCharsets.UTF_8));
    }

    /**
     * The text as it may stand in a log: a peer must not be able to end the line, to move the cursor, or to turn the
     * direction of writing. The ends of its lines are blanks then.
     */
    static String printable(String text) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0, point; i < text.length(); i += Character.charCount(point)) {
            point = text.codePointAt(i);
            shown.appendCodePoint(isPrintable(point) ? point : isSpace(point) ? ' ' : '?');
        }
        return shown.toString();
    }

    private static boolean isSpace(int point) {
        return point == '\n' || point == '\r' || point == '\t';
    }

    private static boolean isPrintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
                 Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
