// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketException;

/**
 * Linux's error numbers, the same on x86-64 and aarch64, their texts, and the exceptions that they become.
 *
 * <p>Any thread may call.
 */
public final class Errno {
    public static final int EPERM = 1;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int EPIPE = 32;
    public static final int ENOSYS = 38;
    public static final int ENONET = 64;
    public static final int EPROTO = 71;
    public static final int EDESTADDRREQ = 89;
    public static final int EMSGSIZE = 90;
    public static final int ENOPROTOOPT = 92;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETDOWN = 100;
    public static final int ENETUNREACH = 101;
    public static final int ENETRESET = 102;
    public static final int ECONNABORTED = 103;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int EISCONN = 106;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTDOWN = 112;
    public static final int EHOSTUNREACH = 113;
    public static final int EINPROGRESS = 115;

    private Errno() {
    }

    /** What {@code strerror} says in the locale C, such as "Connection refused". */
    public static String text(int errno) {
        return SocketFunctions.errorText(errno);
    }

    /**
     * The exception that an application knows from TCP: {@link ConnectException}, {@link BindException},
     * {@link NoRouteToHostException}, {@link ProtocolException} and {@link SocketException} with the text alone, and
     * {@code IOException("Broken pipe")}. Anything else becomes an {@link IOException} that names the call, and a
     * {@link SocketException} where a socket could not be connected or bound.
     *
     * @param call the function of C, or what was done
     * @param errno the positive error number
     */
    public static IOException exception(String call, int errno) {
        String text = text(errno);
        return switch (errno) {
            case ECONNREFUSED -> new ConnectException(text);
            case ETIMEDOUT -> call.equals("connect") ? new ConnectException(text) : new SocketException(text);
            case EADDRINUSE, EADDRNOTAVAIL -> new BindException(text);
            // As java.net has it: a port below 1024, mostly.
            case EACCES -> call.equals("bind") ? new BindException(text) : new SocketException(text);
            // A subclass of what java.net throws for the network, and what Netty's own transports do.
            case EHOSTUNREACH, ENETUNREACH -> new NoRouteToHostException(text);
            case EPROTO -> new ProtocolException(text);
            case ECONNRESET, ECONNABORTED, ENETRESET, ENETDOWN, EHOSTDOWN, ENOTCONN, EISCONN, EAFNOSUPPORT, EMSGSIZE, ENONET ->
                    new SocketException(text);
            // An option that there is not; else what a router or the peer's host has answered to a datagram.
            case ENOPROTOOPT -> call.startsWith("setsockopt") || call.startsWith("getsockopt") ? failed(call, text)
                    : new SocketException(text);
            case EPIPE -> new IOException(text);
            case EMFILE -> new IOException(call + " failed: " + text
                    + " (too many open files: raise the limit, ulimit -n)");
            default -> switch (call) {
                // A filter of the machine's that denies it, an address without its scope.
                case "connect", "bind", "listen" -> new SocketException(call + " failed: " + text);
                default -> failed(call, text);
            };
        };
    }

    private static IOException failed(String call, String text) {
        return new IOException(call + " failed: " + text);
    }

    /**
     * Whether this is {@link #exception} of a connect that nobody has answered: the kernel has given it up. To an application
     * that is a {@link ConnectException}, as a refusal is.
     */
    public static boolean isConnectTimeout(Throwable cause) {
        return cause instanceof ConnectException && text(ETIMEDOUT).equals(cause.getMessage());
    }

    /**
     * Throws what a negative answer says.
     *
     * @return the answer, if it is none
     */
    static int check(String call, int result) throws IOException {
        if (result < 0) {
            throw exception(call, -result);
        }
        return result;
    }
}
