// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One end of the relay, written as {@code ucx:HOST:PORT} or {@code tcp:HOST:PORT}.
 *
 * @param transport NIO for {@code tcp}
 */
record Side(TransportKind transport, HostAndPort address) {
    private static final Map<String, TransportKind> NAMES = Map.of("ucx", TransportKind.UCX, "tcp", TransportKind.NIO);

    /**
     * @throws IllegalArgumentException saying what is wrong with the text and what was expected
     */
    static Side parse(String text) {
        var colon = text.indexOf(':');
        var transport = colon < 0 ? null : NAMES.get(text.substring(0, colon));
        if (transport == null) {
            throw new IllegalArgumentException("'" + text + "' says neither ucx nor tcp. Expected ucx:HOST:PORT or "
                    + "tcp:HOST:PORT, for example tcp:127.0.0.1:8080.");
        }
        return new Side(transport, HostAndPort.parse(text.substring(colon + 1)));
    }

    @Override
    public String toString() {
        return (transport == TransportKind.UCX ? "ucx" : "tcp") + ":" + address;
    }

    /** For picocli, whose error message is then the one of {@link #parse}. */
    static final class Converter implements ITypeConverter<Side> {
        @Override
        public Side convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
