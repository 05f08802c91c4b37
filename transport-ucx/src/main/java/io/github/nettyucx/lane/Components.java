// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/**
 * Which bytes of a composite buffer lie in which of its components. A component can be the very buffer that the application
 * has added, and may still read from: its own indices are the application's, and say nothing about the composite.
 */
final class Components {

    private Components() {
    }

    /** Where a byte of the composite lies in {@link CompositeByteBuf#internalComponent}, whose first byte is at index 0. */
    static int offset(CompositeByteBuf composite, int number, int index) {
        return index - composite.toByteIndex(number);
    }

    /**
     * How many bytes from one on the component has, of those that are wanted.
     *
     * @param index of the composite; no less than the component's first
     * @throws IndexOutOfBoundsException if the component has been made smaller since it was added: its memory ends before
     */
    static int available(CompositeByteBuf composite, int number, int index, int wanted) {
        int next = number + 1;
        int end = next < composite.numComponents() ? composite.toByteIndex(next) : composite.capacity();
        int available = Math.min(wanted, end - index);
        ByteBuf component = composite.internalComponent(number);
        if (offset(composite, number, index) + available > component.capacity()) {
            throw new IndexOutOfBoundsException("component " + number + " has been made smaller since it was added: "
                    + component);
        }
        return available;
    }
}
