// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/** A peer that uses its socket without a lane. */
final class Raw {

    private Raw() {
    }

    /** All of them, which must fit into the kernel's buffers. */
    static void send(KernelSocket socket, byte... bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            int sent = socket.send(memory.address(), bytes.length);
            if (sent != bytes.length) {
                throw new AssertionError("sent " + sent + " of " + bytes.length);
            }
        }
    }

    /** What is there. @return whether that was all there will be */
    static boolean receive(KernelSocket socket, ByteArrayOutputStream into) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64 * 1024);
            while (true) {
                int received = socket.receive(memory.address(), (int) memory.byteSize());
                if (received == -Errno.EAGAIN) {
                    return false;
                }
                if (received <= 0) {
                    return true;
                }
                into.writeBytes(memory.asSlice(0, received).toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }
}
