// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.github.nettyucx.examples.grpc.proto.Payload;
import java.util.Random;

/** Messages that both sides can make from a number. */
final class Payloads {
    private Payloads() {
    }

    static Payload of(long seed, int size) {
        return Payload.newBuilder().setData(bytes(seed, size)).build();
    }

    static ByteString bytes(long seed, int size) {
        var bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return UnsafeByteOperations.unsafeWrap(bytes);
    }
}
