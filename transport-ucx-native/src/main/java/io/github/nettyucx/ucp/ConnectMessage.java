// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a client has sent in order to be connected, looked at before UCX is made to read it.
 *
 * <p>UCX believes whatever has arrived. Of 1.16 to 1.22 each ends the process ({@code ucs_assertv_always} in
 * {@code ucp_address_unpack_header}) when it is asked who a client is that has sent an address of an unknown version,
 * and reads beyond the message if the addresses in it do not end. So anybody who can reach the port could end the
 * process with 70 bytes. This walks through the message as {@code ucp_address_unpack} does, inside its bounds.
 *
 * <p>UCX has no call that gives the message out. It follows the {@code ucp_conn_request_t}, whose layout is the same in
 * UCX 1.16 to 1.22; of a request that does not look like one, or whose size cannot be right, nothing is said.
 */
final class ConnectMessage {

    // struct ucp_conn_request
    private static final int LISTENER = 0;
    private static final int TRANSPORT_REQUEST = 16;
    private static final int CLIENT_ADDRESS = 72;
    private static final int ENDPOINT = 200;
    private static final int MESSAGE = 208;

    // ucp_wireup_sockaddr_data_base_t, and what version 1 adds to it
    private static final int ENDPOINT_ID_BYTES = 8;
    private static final int DATA_VERSION_SHIFT = 5;
    private static final int ADDRESS_FOLLOWS = 2;
    private static final int ERROR_MODE_MASK = 0x1f;
    /** {@code UCP_ERR_HANDLING_MODE_PEER}; below it is none, above it a failover that UCX 1.22 crashes in. */
    private static final int ERROR_MODE_PEER = 1;

    // ucp_address_pack
    private static final int ADDRESS_VERSION_MASK = 0x0f;
    private static final int HEADER_SHIFT = 4;
    private static final int HEADER_WORKER_ID = 2;
    private static final int HEADER_CLIENT_ID = 4;
    private static final int NO_RESOURCE = 0xff;
    private static final int MAX_RESOURCES = 128;
    private static final int MAX_LANES = 16;
    private static final int LAST = 0x80;
    private static final int EMPTY_DEVICE = 0x80;
    private static final int MEMORY_DOMAIN_MASK = 0x7f;
    private static final int MAX_MEMORY_DOMAINS = 64;
    private static final int NUMBER_OF_PATHS = 0x40;
    private static final int SYSTEM_DEVICE = 0x20;
    private static final int DEVICE_LENGTH_MASK = 0x1f;
    private static final int HAS_ENDPOINT_ADDRESS = 0x40;
    private static final int INTERFACE_LENGTH_MASK = 0x3f;
    private static final int CHECKSUM_BYTES = 2;
    private static final int BANDWIDTH_OFFSET = 4;
    private static final int ATTRIBUTES_V1_BYTES = 16;
    private static final int ATTRIBUTES_V2_BYTES = 8;
    private static final int RESOURCE_INDEX_BYTES = 1;

    /** Settings with which addresses look different. */
    private static final boolean USUAL_ADDRESSES =
            System.getenv("UCX_UNIFIED_MODE") == null && System.getenv("UCX_CM_USE_ALL_DEVICES") == null;

    /**
     * Far above what UCX sends, and what it takes: {@code UCX_TCP_CM_PRIV_DATA_LEN}, whose default is 2048, and 16
     * bytes.
     */
    private static final int LARGEST = 64 * 1024;
    private static final boolean USUAL_LENGTH = System.getenv("UCX_TCP_CM_PRIV_DATA_LEN") == null;

    private final byte[] bytes;
    private final boolean errorHandling;
    private int at;
    private boolean overrun;

    ConnectMessage(byte[] bytes, boolean errorHandling) {
        this.bytes = bytes;
        this.errorHandling = errorHandling;
    }

    /**
     * Whether UCX can be asked about a request, and can accept it.
     *
     * @param errorHandling whether the client has to handle its peer's errors. An endpoint that does not has no part in
     *                      the keepalive of UCX, which goes on with it after it is gone if it was its turn
     *                      (a SIGSEGV in {@code ucp_worker_do_keepalive_progress}, UCX 1.22)
     * @return {@code null} if so, or if nothing can be said; otherwise what is wrong, a phrase
     */
    static String problemOf(long request, long listener, boolean errorHandling) {
        if (!isUnderstood(request, listener)) {
            return null;
        }
        // The length of the message is known to nobody any more. This is as long or longer, all of it UCX's memory.
        long length = ProcessAllocator.usableSize(request) - MESSAGE;
        if (!isPossible(length)) {
            return null;
        }
        byte[] bytes = NativeMemory.getBytes(request + MESSAGE, Math.min(length, LARGEST));
        return new ConnectMessage(bytes, errorHandling).problem();
    }

    /**
     * A UCX that does not use the process's allocator may have any length here. Of a message that is as long no more is
     * looked at than {@link #LARGEST}, within which what UCX sends ends.
     */
    private static boolean isPossible(long length) {
        return length >= 0 && (length <= LARGEST || !USUAL_LENGTH);
    }

    /**
     * What stands for the client's connection in UCX, see {@link TcpConnection}.
     *
     * @return 0 if nothing can be said
     */
    static long connectionOf(long request, long listener) {
        return isUnderstood(request, listener) ? NativeMemory.getLong(request + TRANSPORT_REQUEST) : 0;
    }

    private static boolean isUnderstood(long request, long listener) {
        if (NativeMemory.getLong(request + LISTENER) != listener || NativeMemory.getLong(request + ENDPOINT) != 0) {
            return false;
        }
        int family = NativeMemory.getInt(request + CLIENT_ADDRESS) & 0xffff;
        return family == UcpConstants.AF_INET || family == UcpConstants.AF_INET6;
    }

    String problem() {
        skip(ENDPOINT_ID_BYTES);
        int header = next();
        int version = header >> DATA_VERSION_SHIFT;
        if (version > 1) {
            return "data of version " + version;
        }
        int errorMode = header & ERROR_MODE_MASK;
        if (errorMode > ERROR_MODE_PEER || errorHandling && errorMode < ERROR_MODE_PEER) {
            return "error handling of mode " + errorMode;
        }
        if (version == 0) {
            int mode = next();
            next();
            if (mode != ADDRESS_FOLLOWS) {
                return "data of mode " + mode;
            }
        }
        String problem = addresses();
        return overrun ? "a message that is too short" : problem;
    }

    private String addresses() {
        int header = next();
        int version = header & ADDRESS_VERSION_MASK;
        if (version > 1) {
            return "an address of version " + version;
        }
        int flags = version == 0 ? header >> HEADER_SHIFT : next();
        if ((flags & HEADER_WORKER_ID) != 0) {
            skip(Long.BYTES);
        }
        if ((flags & HEADER_CLIENT_ID) != 0) {
            skip(Long.BYTES);
        }
        if (!USUAL_ADDRESSES) {
            return null;
        }
        if (peek() == NO_RESOURCE) {
            return "no address";
        }
        int interfaces = 0;
        int deviceFlags;
        do {
            boolean empty = (peek() & EMPTY_DEVICE) != 0;
            int domain = lengthened(MEMORY_DOMAIN_MASK, version);
            // Of an empty device that is the release.
            if (!empty && domain >= MAX_MEMORY_DOMAINS) {
                return "memory domain " + domain;
            }
            deviceFlags = peek();
            int deviceLength = lengthened(DEVICE_LENGTH_MASK, version);
            skip((deviceFlags & NUMBER_OF_PATHS) != 0 ? 1 : 0);
            skip((deviceFlags & SYSTEM_DEVICE) != 0 ? 1 : 0);
            skip(deviceLength);
            boolean last = empty;
            while (!last && !overrun) {
                if (++interfaces > MAX_RESOURCES) {
                    return "more than " + MAX_RESOURCES + " addresses";
                }
                skip(CHECKSUM_BYTES);
                if (version == 0 && !(bandwidth() > 0)) {
                    return "a transport without bandwidth";
                }
                skip((version == 0 ? ATTRIBUTES_V1_BYTES : ATTRIBUTES_V2_BYTES) + RESOURCE_INDEX_BYTES);
                int interfaceFlags = peek();
                skip(lengthened(INTERFACE_LENGTH_MASK, version));
                last = (interfaceFlags & LAST) != 0;
                if ((interfaceFlags & HAS_ENDPOINT_ADDRESS) != 0 && !endpointAddresses()) {
                    return "more than " + MAX_LANES + " addresses of lanes";
                }
            }
        } while ((deviceFlags & LAST) == 0 && !overrun);
        return interfaces == 0 ? "no address" : null;
    }

    private boolean endpointAddresses() {
        int count = 0;
        int lane;
        do {
            if (++count > MAX_LANES) {
                return false;
            }
            skip(next());
            lane = next();
            if ((lane & INTERFACE_LENGTH_MASK) >= MAX_LANES) {
                return false;
            }
        } while ((lane & LAST) == 0 && !overrun);
        return true;
    }

    private float bandwidth() {
        int start = at + BANDWIDTH_OFFSET;
        if (start + Float.BYTES > bytes.length) {
            overrun = true;
            return 0;
        }
        return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_FLOAT_UNALIGNED, start);
    }

    /** A value in the lower bits of a byte, which in addresses of version 2 may need a byte of its own. */
    private int lengthened(int mask, int version) {
        int value = next() & mask;
        return version != 0 && value == mask ? next() : value;
    }

    private int peek() {
        if (at >= bytes.length) {
            overrun = true;
            return LAST;
        }
        return Byte.toUnsignedInt(bytes[at]);
    }

    private int next() {
        int value = peek();
        at++;
        return value;
    }

    private void skip(int count) {
        at += count;
        overrun |= at > bytes.length;
    }
}
