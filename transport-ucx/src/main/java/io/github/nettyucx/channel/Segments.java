// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Packets that are several datagrams. Netty has them beside its native transports, in a jar that this one does without. The
 * application can have it in a class loader below the one that has Netty's core: so a packet is known by its class's name.
 */
final class Segments {

    private static final String NAME = ".channel.unix.SegmentedDatagramPacket";
    private static final MethodType SIZE = MethodType.methodType(int.class);

    /** Tells the size that a message of the class says; {@code null} of other classes. */
    private static final ClassValue<MethodHandle> SIZES = new ClassValue<>() {

        @Override
        protected MethodHandle computeValue(Class<?> type) {
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                if (each.getName().endsWith(NAME)) {
                    try {
                        return MethodHandles.publicLookup().findVirtual(each, "segmentSize", SIZE)
                                .asType(SIZE.insertParameterTypes(0, Object.class));
                    } catch (ReflectiveOperationException e) {
                        return null;
                    }
                }
            }
            return null;
        }
    };

    private Segments() {
    }

    /** The most bytes of each of the message's datagrams; 0 if it is one datagram, or none. */
    static int size(Object message) {
        MethodHandle size = SIZES.get(message.getClass());
        if (size == null) {
            return 0;
        }
        try {
            return (int) size.invokeExact(message);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a method without exceptions", e);
        }
    }
}
