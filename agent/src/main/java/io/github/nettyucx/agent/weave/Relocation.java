// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Gives classes that were compiled against {@code io.netty} the names of a copy of Netty: {@code io/netty/channel/Channel}
 * becomes {@code org/apache/ratis/thirdparty/io/netty/channel/Channel}, in class names, descriptors and signatures.
 * <p>
 * These are all in a class file's constant pool, as text with slashes, and nothing else of the file depends on their
 * length. Strings of the code with dots, such as the names of system properties, stay as they are.
 */
final class Relocation {

    private static final String NETTY = "io/netty/";
    /** Below a copy of Netty, because one class loader can have several copies. */
    private static final String HOOK = "io/github/nettyucx/agent/hook/";
    private static final String HOOK_BELOW_NETTY = "nettyucx/agent/";
    private static final String AGENT = "io.github.nettyucx.agent.";

    // Tags of the constant pool's entries; see the Java Virtual Machine Specification, 4.4.
    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;

    /** With slashes, the last of them at the end. */
    private final String root;

    /** @param root the package that is {@code io.netty} in this copy, with slashes and without one at its end */
    Relocation(String root) {
        this.root = root + '/';
    }

    /** The name in this copy of a class's name with slashes, or of any text that has such names in it. */
    String map(String text) {
        return text.replace(NETTY, root).replace(HOOK, root + HOOK_BELOW_NETTY);
    }

    /**
     * Whether a class of the transport's keeps all names, as in a copy that has Netty's own ones. Only the agent's classes know
     * the hooks.
     *
     * @param name with dots
     */
    boolean keeps(String name) {
        return root.equals(NETTY) && !name.startsWith(AGENT);
    }

    /** @throws IllegalArgumentException if these are not the bytes of a class */
    byte[] map(byte[] classFile) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(classFile.length + classFile.length / 4);
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
                DataOutputStream out = new DataOutputStream(bytes)) {
            // The magic number and the version.
            copy(in, out, Long.BYTES);
            int count = in.readUnsignedShort();
            out.writeShort(count);
            for (int index = 1; index < count; index++) {
                int tag = in.readUnsignedByte();
                out.writeByte(tag);
                if (tag == UTF8) {
                    out.writeUTF(map(in.readUTF()));
                } else {
                    copy(in, out, size(tag));
                }
                if (tag == LONG || tag == DOUBLE) {
                    // They take two places.
                    index++;
                }
            }
            in.transferTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void copy(DataInputStream in, DataOutputStream out, int length) throws IOException {
        out.write(in.readNBytes(length));
    }

    private static int size(int tag) {
        return switch (tag) {
            case 7, 8, 16, 19, 20 -> 2;
            case 15 -> 3;
            case 3, 4, 9, 10, 11, 12, 17, 18 -> 4;
            case LONG, DOUBLE -> 8;
            default -> throw new IllegalArgumentException("a class file's constant pool has an entry of the unknown kind "
                    + tag);
        };
    }
}
