// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What is written is read, wherever a frame ends in the middle of it. */
class ExporterTest {

    private static final String TEXT = "aé€🙂\uD800z";
    private static final long[] LONGS = {Long.MIN_VALUE, -1, 0, 0x0123456789ABCDEFL};

    /** Windows of so many bytes each, one behind the other. */
    private static final class Windows implements Exporter.More {

        private final Exporter exporter = new Exporter();
        private final List<byte[]> all = new ArrayList<>();
        private final int size;

        Windows(int size) {
            this.size = size;
            next();
        }

        @Override
        public void next() {
            all.add(new byte[size]);
            exporter.window(MemorySegment.ofArray(all.getLast()), 0, size, this);
        }

        Importer read() {
            ByteBuf bytes = Unpooled.wrappedBuffer(all.toArray(byte[][]::new));
            int length = bytes.readableBytes() - (int) exporter.left();
            Importer importer = new Importer();
            importer.over(bytes, 0, length);
            return importer;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 7, 8, 13, 64, 4096})
    void everythingComesBack(int window) {
        var windows = new Windows(window);
        Exporter out = windows.exporter;
        out.putByte(-7);
        out.putBoolean(true);
        out.putShort(-12345);
        out.putChar('€');
        out.putInt(0x89ABCDEF);
        out.putLong(LONGS[3]);
        out.putFloat(1.5f);
        out.putDouble(-Math.PI);
        out.putString(TEXT);
        out.putBytes(new byte[] {1, 2, 3});
        out.putShorts(new short[] {1, -2});
        out.putChars(new char[] {'a', 'b'});
        out.putInts(new int[] {1, -2, 3});
        out.putFloats(new float[] {1, Float.NaN});
        out.putLongs(LONGS);
        out.putDoubles(new double[] {1, Double.NEGATIVE_INFINITY});
        out.putObject("nested", StringCodec.INSTANCE);
        ByteBuf buffer = Unpooled.directBuffer().writeLong(42);
        out.putBuffer(buffer);
        buffer.release();

        Importer in = windows.read();
        assertEquals(-7, in.getByte());
        assertTrue(in.getBoolean());
        assertEquals(-12345, in.getShort());
        assertEquals('€', in.getChar());
        assertEquals(0x89ABCDEF, in.getInt());
        assertEquals(LONGS[3], in.getLong());
        assertEquals(1.5f, in.getFloat());
        assertEquals(-Math.PI, in.getDouble());
        assertEquals(TEXT.replace('\uD800', '?'), in.getString());
        assertArrayEquals(new byte[] {1, 2, 3}, in.getBytes());
        assertArrayEquals(new short[] {1, -2}, in.getShorts());
        assertArrayEquals(new char[] {'a', 'b'}, in.getChars());
        assertArrayEquals(new int[] {1, -2, 3}, in.getInts());
        assertArrayEquals(new float[] {1, Float.NaN}, in.getFloats());
        assertArrayEquals(LONGS, in.getLongs());
        assertArrayEquals(new double[] {1, Double.NEGATIVE_INFINITY}, in.getDoubles());
        assertEquals("nested", in.getObject(StringCodec.INSTANCE));
        ByteBuf rest = in.getBuffer(in.remaining());
        assertEquals(42, rest.readLong());
        rest.release();
        assertEquals(0, in.remaining());
    }

    @Test
    void sizesAreWhatIsWritten() {
        var windows = new Windows(4096);
        windows.exporter.putString(TEXT);
        assertEquals(Exporter.sizeOf(TEXT), windows.read().remaining());
        windows.exporter.putLongs(LONGS);
        windows.exporter.putBytes(new byte[3]);
        windows.exporter.putChars(new char[3]);
        assertEquals(Exporter.sizeOf(TEXT) + Exporter.sizeOf(LONGS) + Exporter.sizeOf(new byte[3])
                + Exporter.sizeOf(new char[3]), windows.read().remaining());
    }

    /** Netty, for one, counts two bytes for a half of a pair and what is behind it. */
    @Test
    void aStringWithHalfAPairHasTheSizeThatItTakes() {
        Map<CharSequence, String> read = Map.of("\uD800é", "?é", "\uD800€", "?€", "\uD800\uD83D\uDE42", "?🙂",
                "\uD800\uD800", "??", "\uDE42\uD83D", "??", "z\uD800", "z?", "\uD83D\uDE42", "🙂",
                new AsciiString(new byte[] {'a', (byte) 0xE9}), "aé");
        read.forEach((written, expected) -> {
            for (int window : new int[] {1, 3, 64}) {
                var windows = new Windows(window);
                windows.exporter.putString(written);
                Importer in = windows.read();
                assertEquals(Exporter.sizeOf(written), in.remaining(), expected);
                assertEquals(expected, in.getString());
                assertEquals(0, in.remaining(), expected);
            }
        });
    }

    /** Nothing is allocated for a length that a message claims. */
    @Test
    void readingBehindTheEndIsRefused() {
        var windows = new Windows(8);
        windows.exporter.putInt(Integer.MAX_VALUE);
        for (var read : List.<java.util.function.Function<Importer, Object>>of(Importer::getLong, Importer::getString,
                Importer::getBytes, Importer::getLongs, Importer::getInts, in -> in.getBuffer(5), in -> in.getBuffer(-1))) {
            assertTrue(assertThrows(IndexOutOfBoundsException.class, () -> read.apply(windows.read())).getMessage()
                    .contains("same codec"));
        }
    }
}
