// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.channel.FileRegion;
import io.netty.util.AbstractReferenceCounted;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** Bytes that are written as a file is. */
public class ArrayRegion extends AbstractReferenceCounted implements FileRegion {

    private final byte[] bytes;
    /** A file system need not give everything at once. */
    int atOnce;
    /** To be thrown, or {@code null}. */
    RuntimeException failure;
    private int transferred;

    public ArrayRegion(byte[] bytes, int atOnce) {
        this.bytes = bytes;
        this.atOnce = atOnce;
    }

    @Override
    public long position() {
        return 0;
    }

    @Override
    public long count() {
        return bytes.length;
    }

    @Override
    public long transferred() {
        return transferred;
    }

    @Override
    @Deprecated
    public long transfered() {
        return transferred;
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        if (failure != null) {
            throw failure;
        }
        int length = Math.min(atOnce, bytes.length - (int) position);
        int written = target.write(ByteBuffer.wrap(bytes, (int) position, length));
        transferred += written;
        return written;
    }

    @Override
    protected void deallocate() {
        // Nothing to give back.
    }

    @Override
    public FileRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public FileRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public FileRegion touch() {
        return this;
    }

    @Override
    public FileRegion touch(Object hint) {
        return this;
    }
}
