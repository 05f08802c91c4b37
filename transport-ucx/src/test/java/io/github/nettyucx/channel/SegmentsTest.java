// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.unix.SegmentedDatagramPacket;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SegmentsTest {

    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7);

    @Test
    void whatIsSeveralDatagramsSaysHowLongTheyAre() {
        assertEquals(5, Segments.size(new SegmentedDatagramPacket(Unpooled.EMPTY_BUFFER, 5, PEER)));
        assertEquals(0, Segments.size(new DatagramPacket(Unpooled.EMPTY_BUFFER, PEER)));
        assertEquals(0, Segments.size(Unpooled.EMPTY_BUFFER));
    }

    /** The transport's own classes anew, and none of Netty's for native transports. */
    private static final class WithoutNative extends ClassLoader {

        WithoutNative() {
            super(SegmentsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("io.netty.channel.unix.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith(Segments.class.getName())) {
                return super.loadClass(name, resolve);
            }
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void whereNettyHasNoneNobodyNeedsTheirClass() throws Exception {
        Method size = new WithoutNative().loadClass(Segments.class.getName()).getDeclaredMethod("size", Object.class);
        size.setAccessible(true);
        assertEquals(0, size.invoke(null, new DatagramPacket(Unpooled.EMPTY_BUFFER, PEER)));
        assertEquals(0, size.invoke(null, Unpooled.EMPTY_BUFFER));
    }
}
