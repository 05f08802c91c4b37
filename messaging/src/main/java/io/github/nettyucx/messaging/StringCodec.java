// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** Messages that are strings, in UTF-8. */
public final class StringCodec implements Codec<String> {

    public static final StringCodec INSTANCE = new StringCodec();

    private StringCodec() {
    }

    @Override
    public int size(String message) {
        return Exporter.sizeOf(message);
    }

    @Override
    public void write(String message, Exporter out) {
        out.putString(message);
    }

    @Override
    public String read(Importer in) {
        return in.getString();
    }
}
