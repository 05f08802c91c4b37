// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * What a peer needs to open memory: which region, how long it is, with which rights. Bound together by a code that only
 * the owner can make; a checksum tells everybody else of damage.
 *
 * @param bytes all of it, as it is exported
 */
record MemoryKey(byte[] bytes) {

    static final int LENGTH = 64;

    private static final int MAGIC = 0x5558_4d4b;
    private static final int VERSION = 1;
    private static final int VERSION_AT = 4;
    private static final int RIGHTS_AT = 5;
    private static final int REGION_AT = 8;
    private static final int LENGTH_AT = 16;
    private static final int CODE_AT = 24;
    private static final int CODE_LENGTH = 32;
    private static final int RESERVED_AT = CODE_AT + CODE_LENGTH;
    private static final int CHECKSUM_AT = 60;
    private static final String ALGORITHM = "HmacSHA256";

    /** @param secret of the region, which never leaves its owner */
    static MemoryKey of(long region, long length, int rights, byte[] secret) {
        ByteBuffer key = ByteBuffer.allocate(LENGTH);
        key.putInt(0, MAGIC).put(VERSION_AT, (byte) VERSION).put(RIGHTS_AT, (byte) rights).putLong(REGION_AT, region)
                .putLong(LENGTH_AT, length);
        key.put(CODE_AT, code(key.array(), secret));
        key.putInt(CHECKSUM_AT, checksum(key.array()));
        return new MemoryKey(key.array());
    }

    /** @throws UcxMemoryException if these are not the bytes of a key */
    static MemoryKey parse(byte[] bytes) throws UcxMemoryException {
        if (bytes.length != LENGTH) {
            throw damaged(bytes.length + " bytes; expected " + LENGTH);
        }
        ByteBuffer key = ByteBuffer.wrap(bytes);
        if (key.getInt(0) != MAGIC) {
            throw damaged("it does not begin as a key does");
        }
        if (key.get(VERSION_AT) != VERSION) {
            throw damaged("version " + (key.get(VERSION_AT) & 0xff) + "; expected " + VERSION);
        }
        if (key.getInt(CHECKSUM_AT) != checksum(bytes)) {
            throw damaged("its checksum is wrong");
        }
        if (key.getInt(RESERVED_AT) != 0) {
            throw damaged("what is reserved is not 0");
        }
        return new MemoryKey(bytes.clone());
    }

    private static UcxMemoryException damaged(String what) {
        UcxMemoryException.Reason reason = UcxMemoryException.Reason.DAMAGED_KEY;
        return new UcxMemoryException(reason, reason.text() + " (" + what + ')');
    }

    long region() {
        return ByteBuffer.wrap(bytes).getLong(REGION_AT);
    }

    int rights() {
        return bytes[RIGHTS_AT] & 0xff;
    }

    /** Whether who has this secret has made it. */
    boolean isOf(byte[] secret) {
        byte[] code = Arrays.copyOfRange(bytes, CODE_AT, RESERVED_AT);
        return MessageDigest.isEqual(code, code(bytes, secret));
    }

    private static byte[] code(byte[] key, byte[] secret) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret, ALGORITHM));
            mac.update(key, 0, CODE_AT);
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            // Every JDK has it.
            throw new IllegalStateException(e);
        }
    }

    private static int checksum(byte[] key) {
        CRC32C crc = new CRC32C();
        crc.update(key, 0, CHECKSUM_AT);
        return (int) crc.getValue();
    }
}
