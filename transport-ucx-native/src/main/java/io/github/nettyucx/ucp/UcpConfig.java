// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * UCX's configuration: the environment as it was when it was read, and changes on top. For one thread at a time; a
 * context copies what it needs when it is created, so a configuration may be closed, or used again, after that.
 */
public final class UcpConfig implements AutoCloseable {

    private long address;

    private UcpConfig(long address) {
        this.address = address;
    }

    /**
     * Reads the configuration from the environment.
     *
     * @param prefix variables {@code <prefix>_UCX_<name>} take precedence over {@code UCX_<name>}; {@code null} for
     *               the latter alone
     * @throws UcxException         if a variable has a value that UCX can't understand
     * @throws UnsatisfiedLinkError if there is no usable UCX
     */
    public static UcpConfig read(String prefix) throws UcxException {
        UcxLibrary.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            long nativePrefix = prefix == null ? 0 : arena.allocateFrom(prefix).address();
            UcpFunctions.checkReading("Reading the UCX configuration",
                    UcpFunctions.CONFIG_READ, nativePrefix, 0, out.address());
            return new UcpConfig(out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /**
     * Sets one option.
     *
     * @param name  without {@code UCX_}, such as {@code TLS}
     * @param value as the environment variable would have it
     * @throws UcxException {@link UcsStatus#ERR_NO_ELEM} if there is no such option,
     *                      {@link UcsStatus#ERR_INVALID_PARAM} if it can't have this value
     */
    public UcpConfig modify(String name, String value) throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            long nativeName = arena.allocateFrom(name).address();
            long nativeValue = arena.allocateFrom(value).address();
            UcpFunctions.checkReading("Setting UCX option " + name + " to \"" + value + '"',
                    UcpFunctions.CONFIG_MODIFY, address(), nativeName, nativeValue);
            return this;
        }
    }

    /** The {@code ucp_config_t}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The configuration is closed");
        }
        return address;
    }

    @Override
    public void close() {
        long released = address;
        if (released == 0) {
            return;
        }
        address = 0;
        UcpFunctions.call(UcpFunctions.CONFIG_RELEASE, released, 0, 0);
    }
}
